-- Two queries over one table. The second groups by a subset of the keys of the first,
-- so its answer follows from the first one's rows: the table is aggregated once.

SELECT job, region, SUM(bytes) AS bytes
FROM metrics
GROUP BY job, region;

SELECT job, SUM(bytes) AS bytes
FROM metrics
GROUP BY job;
