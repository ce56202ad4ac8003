ALTER TABLE `cron_jobs` ADD `alert_after` integer DEFAULT 1 NOT NULL;

ALTER TABLE `cron_jobs` ADD `failed_runs` integer DEFAULT 0 NOT NULL;
