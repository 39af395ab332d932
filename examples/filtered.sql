-- A condition on one measure only. Every ship mode is a row of the answer, also one without a returned line;
-- both spellings are one aggregate over one scan, and the second query's work is shared with the first.

SELECT
    l_shipmode,
    count(CASE WHEN l_returnflag = 'R' THEN 1 END) AS returned,
    sum(l_quantity)                                AS quantity
FROM lineitem
GROUP BY l_shipmode;

SELECT
    count(*) FILTER (WHERE l_returnflag = 'R') AS returned,
    sum(l_quantity)                            AS quantity
FROM lineitem;
