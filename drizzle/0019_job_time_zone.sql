ALTER TABLE `cron_jobs` ADD `time_zone` text DEFAULT 'UTC' NOT NULL;
