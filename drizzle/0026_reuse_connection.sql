ALTER TABLE `cron_jobs` ADD `reuses_connection` integer DEFAULT false NOT NULL;

ALTER TABLE `delayed_jobs` ADD `reuses_connection` integer DEFAULT false NOT NULL;
