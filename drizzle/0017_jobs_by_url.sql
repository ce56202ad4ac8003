CREATE INDEX `cron_jobs_by_url` ON `cron_jobs` (`tenant_id`,`url`);
