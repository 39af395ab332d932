-- Shipping and revenue dashboard over TPC-H lineitem.
--
-- Frozen: written before the planner and never changed to suit it. One statement is one tile.
--
-- What can share work, judged by reading the tiles and not by running anything (38 tiles):
--   27 can share at all.
--      3 are fine "cubes" (tiles 1, 11, 17) that other tiles are coarser views of;
--     15 can be derived from a cube: the same rows, or the rows of one key value, at a coarser grain, with
--        measures that the cube holds or that follow from them (tiles 2-9, 12-14, 18-20, 22);
--      3 repeat such a grouping under another spelling: a CTE, sub-selects (tiles 10, 15, 21);
--      6 are counts under a condition on keys of a cube (tiles 23-28); for them an index may be cheaper still.
--   11 can share nothing but the scan.
--      2 count columns or missing values that no cube holds (tiles 29, 30);
--      9 have a filter, a grain or an expression of their own (tiles 16, 31-38).
--
-- l_shipmode, l_commitdate, l_tax and l_comment may be NULL.

-- =====================================================================================================
-- Revenue
-- =====================================================================================================

-- 1. Price book: every return flag, line status and ship mode
SELECT
    l_returnflag,
    l_linestatus,
    l_shipmode,
    count(*)             AS lines,
    sum(l_quantity)      AS quantity,
    avg(l_quantity)      AS avg_quantity,
    sum(l_extendedprice) AS gross,
    avg(l_extendedprice) AS avg_price,
    min(l_extendedprice) AS min_price,
    max(l_extendedprice) AS max_price,
    max(l_shipdate)      AS last_shipped
FROM lineitem
GROUP BY l_returnflag, l_linestatus, l_shipmode
ORDER BY l_returnflag, l_linestatus, l_shipmode;

-- 2. Price summary by return flag and line status
SELECT
    l_returnflag,
    l_linestatus,
    sum(l_quantity)      AS sum_qty,
    sum(l_extendedprice) AS sum_base_price,
    avg(l_quantity)      AS avg_qty,
    avg(l_extendedprice) AS avg_price,
    count(*)             AS count_order
FROM lineitem
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;

-- 3. Revenue by ship mode
SELECT l_shipmode, count(*) AS lines, sum(l_extendedprice) AS gross, avg(l_extendedprice) AS avg_price
FROM lineitem
GROUP BY l_shipmode
ORDER BY gross DESC, l_shipmode;

-- 4. Open against finished
select l_linestatus, count(*) as lines, sum(l_quantity) as quantity, max(l_extendedprice) as dearest_line
from lineitem
group by l_linestatus
order by l_linestatus;

-- 5. Returns: how many lines of each flag are still open
SELECT
    l_returnflag,
    count(*)                                    AS lines,
    count(*) FILTER (WHERE l_linestatus = 'O')  AS open_lines,
    sum(l_extendedprice)                        AS gross
FROM lineitem
GROUP BY l_returnflag
ORDER BY l_returnflag;

-- 6. Headline numbers
SELECT
    count(*)             AS lines,
    sum(l_quantity)      AS quantity,
    sum(l_extendedprice) AS gross,
    avg(l_extendedprice) AS avg_price,
    min(l_extendedprice) AS min_price,
    max(l_extendedprice) AS max_price,
    max(l_shipdate)      AS last_shipped
FROM lineitem;

-- 7. What came back, by ship mode
SELECT l_shipmode, count(*) AS returned_lines, sum(l_extendedprice) AS returned_value
FROM lineitem
WHERE l_returnflag = 'R'
GROUP BY l_shipmode
ORDER BY l_shipmode;

-- 8. Air freight in one line
SELECT count(*) AS lines, sum(l_quantity) AS quantity, sum(l_extendedprice) AS gross
FROM lineitem
WHERE l_shipmode = 'AIR';

-- 9. Return flags and ship modes side by side
SELECT l_shipmode, l_returnflag, sum(l_quantity) AS quantity, min(l_extendedprice) AS cheapest_line
FROM lineitem
GROUP BY 1, 2
ORDER BY 1, 2;

-- 10. Three strongest ship modes
SELECT by_mode.l_shipmode, by_mode.gross
FROM (
    SELECT l_shipmode, sum(l_extendedprice) AS gross
    FROM lineitem
    GROUP BY l_shipmode
) AS by_mode
ORDER BY by_mode.gross DESC, by_mode.l_shipmode
LIMIT 3;

-- =====================================================================================================
-- Net revenue over time
-- =====================================================================================================

-- 11. Net revenue by month and ship mode
SELECT
    date_trunc('month', l_shipdate)          AS ship_month,
    l_shipmode,
    count(*)                                 AS lines,
    sum(l_quantity)                          AS quantity,
    sum(l_extendedprice * (1 - l_discount))  AS net
FROM lineitem
GROUP BY date_trunc('month', l_shipdate), l_shipmode
ORDER BY ship_month, l_shipmode;

-- 12. Net revenue by month
SELECT
    date_trunc('month', l_shipdate)          AS ship_month,
    sum(l_extendedprice * (1 - l_discount))  AS net,
    count(*)                                 AS lines
FROM lineitem
GROUP BY ship_month
ORDER BY ship_month;

-- 13. Net revenue by ship mode, only the modes that matter
SELECT l_shipmode, sum(l_extendedprice * (1 - l_discount)) AS net, avg(l_quantity) AS avg_quantity
FROM lineitem
GROUP BY l_shipmode
HAVING sum(l_extendedprice * (1 - l_discount)) > 1000000
ORDER BY net DESC, l_shipmode;

-- 14. Net revenue, all time
SELECT sum(l_extendedprice * (1 - l_discount)) AS net, sum(l_quantity) AS quantity, count(*) AS lines
FROM lineitem;

-- 15. The last twelve months by mail
WITH monthly AS (
    SELECT
        date_trunc('month', l_shipdate)          AS ship_month,
        l_shipmode,
        sum(l_extendedprice * (1 - l_discount))  AS net
    FROM lineitem
    GROUP BY date_trunc('month', l_shipdate), l_shipmode
)
SELECT ship_month, net
FROM monthly
WHERE l_shipmode = 'MAIL'
ORDER BY ship_month DESC
LIMIT 12;

-- 16. Discount given, year by year
SELECT
    extract(year FROM l_shipdate)          AS ship_year,
    sum(l_extendedprice * l_discount)      AS discount_given,
    max(l_discount)                        AS highest_discount
FROM lineitem
GROUP BY extract(year FROM l_shipdate)
ORDER BY ship_year;

-- =====================================================================================================
-- Service: "late" means received after the committed date; a line without a committed date is never late
-- =====================================================================================================

-- 17. Punctuality by ship mode and return flag
SELECT
    l_shipmode,
    l_returnflag,
    count(*)                                                      AS lines,
    count(l_commitdate)                                           AS promised,
    count(*) FILTER (WHERE l_receiptdate > l_commitdate)          AS late,
    sum(l_quantity) FILTER (WHERE l_receiptdate > l_commitdate)   AS late_quantity,
    max(l_receiptdate)                                            AS last_received
FROM lineitem
GROUP BY l_shipmode, l_returnflag
ORDER BY l_shipmode, l_returnflag;

-- 18. Punctuality by ship mode
SELECT
    l_shipmode,
    count(*)                                              AS lines,
    count(l_commitdate)                                   AS promised,
    count(*) FILTER (WHERE l_receiptdate > l_commitdate)  AS late
FROM lineitem
GROUP BY l_shipmode
ORDER BY l_shipmode;

-- 19. Do late lines come back?
SELECT
    l_returnflag,
    count(CASE WHEN l_receiptdate > l_commitdate THEN 1 END)                AS late,
    sum(l_quantity) FILTER (WHERE l_receiptdate > l_commitdate)             AS late_quantity,
    count(*)                                                                AS lines
FROM lineitem
GROUP BY l_returnflag
ORDER BY l_returnflag;

-- 20. Punctuality, all time
SELECT
    count(*)                                                  AS lines,
    count(l_commitdate)                                       AS promised,
    count(CASE WHEN l_receiptdate > l_commitdate THEN 1 END)  AS late,
    max(l_receiptdate)                                        AS last_received
FROM lineitem;

-- 21. Share of late lines among those with a promise
SELECT l_shipmode, 100.0 * late / promised AS late_percent
FROM (
    SELECT
        l_shipmode,
        count(l_commitdate)                                   AS promised,
        count(*) FILTER (WHERE l_receiptdate > l_commitdate)  AS late
    FROM lineitem
    GROUP BY l_shipmode
) AS punctuality
WHERE promised > 0
ORDER BY l_shipmode;

-- =====================================================================================================
-- Counters
-- =====================================================================================================

-- 22. Lines on file
SELECT count(*) FROM lineitem;

-- 23. Lines returned
SELECT count(*) AS returned FROM lineitem WHERE l_returnflag = 'R';

-- 24. Lines that went by truck
SELECT count(*) AS by_truck FROM lineitem WHERE l_shipmode = 'TRUCK';

-- 25. Lines not finished yet
SELECT count(*) AS open_lines FROM lineitem WHERE l_linestatus = 'O';

-- 26. Lines that are settled, one way or the other
SELECT count(*) AS settled FROM lineitem WHERE l_returnflag IN ('A', 'R');

-- 27. Lines with a ship mode on record
SELECT count(l_shipmode) AS with_mode FROM lineitem;

-- 28. Returned air freight
SELECT count(*) AS returned_by_air FROM lineitem WHERE l_returnflag = 'R' AND l_shipmode = 'AIR';

-- 29. How complete are the records?
SELECT count(*) AS lines, count(l_tax) AS with_tax, count(l_comment) AS with_comment, count(l_orderkey) AS with_order
FROM lineitem;

-- 30. Lines without a tax rate, by line status
SELECT l_linestatus, count(*) AS untaxed
FROM lineitem
WHERE l_tax IS NULL
GROUP BY l_linestatus
ORDER BY l_linestatus;

-- =====================================================================================================
-- Tiles with a question of their own
-- =====================================================================================================

-- 31. What small, discounted orders of 1994 would have earned at full price
SELECT sum(l_extendedprice * l_discount) AS forgone, count(*) AS lines
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07
  AND l_quantity < 24;

-- 32. Delivery instructions in the second half of 1996
SELECT l_shipinstruct, count(*) AS lines, sum(l_quantity) AS quantity, avg(l_discount) AS avg_discount
FROM lineitem
WHERE l_shipdate BETWEEN DATE '1996-07-01' AND DATE '1996-12-31'
GROUP BY l_shipinstruct
ORDER BY lines DESC, l_shipinstruct;

-- 33. Ten biggest suppliers of 1997
SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) AS net
FROM lineitem
WHERE l_shipdate >= DATE '1997-01-01' AND l_shipdate < DATE '1998-01-01'
GROUP BY l_suppkey
ORDER BY net DESC, l_suppkey
LIMIT 10;

-- 34. Unusually large orders
SELECT l_orderkey, sum(l_quantity) AS quantity, count(*) AS lines
FROM lineitem
GROUP BY l_orderkey
HAVING sum(l_quantity) > 270
ORDER BY quantity DESC, l_orderkey
LIMIT 20;

-- 35. Lines by discount
SELECT l_discount, count(*) AS lines, min(l_shipdate) AS first_shipped, max(l_receiptdate) AS last_received
FROM lineitem
GROUP BY l_discount
ORDER BY l_discount;

/* 36. Tax by position in the order. The rate is missing on some lines;
       avg leaves these out, and so does the count beside it. */
SELECT
    l_linenumber,
    avg(l_tax)                                   AS avg_tax,
    min(l_tax)                                   AS lowest_tax,
    max(l_tax)                                   AS highest_tax,
    count(l_tax)                                 AS taxed_lines,
    sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charge
FROM lineitem
GROUP BY l_linenumber
ORDER BY l_linenumber;

-- 37. Small, medium and large lines
SELECT
    CASE WHEN l_quantity < 10 THEN 'small' WHEN l_quantity < 35 THEN 'medium' ELSE 'large' END AS size,
    count(*)              AS lines,
    avg(l_extendedprice)  AS avg_price
FROM lineitem
GROUP BY CASE WHEN l_quantity < 10 THEN 'small' WHEN l_quantity < 35 THEN 'medium' ELSE 'large' END
ORDER BY size;

-- 38. Late deliveries by quarter of the year, and how many of them had to be handed over in person
SELECT
    extract(quarter FROM l_receiptdate)                                    AS receipt_quarter,
    count(*)                                                               AS late,
    count(*) FILTER (WHERE l_shipinstruct = 'DELIVER IN PERSON')           AS late_in_person
FROM lineitem
WHERE l_receiptdate > l_commitdate
GROUP BY extract(quarter FROM l_receiptdate)
ORDER BY receipt_quarter;
