CREATE TABLE `job_signing_secrets` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`secrets` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

ALTER TABLE `cron_jobs` ADD `timeout_ms` integer;

ALTER TABLE `cron_jobs` ADD `retry` text;

ALTER TABLE `cron_jobs` ADD `success_statuses` text;

ALTER TABLE `cron_jobs` ADD `tags` text DEFAULT '[]' NOT NULL;

ALTER TABLE `cron_jobs` ADD `notes` text;

ALTER TABLE `cron_jobs` ADD `secret_headers` text;

ALTER TABLE `cron_jobs` ADD `is_signed` integer DEFAULT false NOT NULL;

ALTER TABLE `cron_jobs` ADD `deduplication_id` text;

ALTER TABLE `cron_jobs` ADD `overlap` text DEFAULT 'skip' NOT NULL;

CREATE UNIQUE INDEX `cron_jobs_deduplication` ON `cron_jobs` (`tenant_id`,`deduplication_id`) WHERE deduplication_id is not null;

ALTER TABLE `delayed_jobs` ADD `timeout_ms` integer;

ALTER TABLE `delayed_jobs` ADD `retry` text;

ALTER TABLE `delayed_jobs` ADD `success_statuses` text;

ALTER TABLE `delayed_jobs` ADD `tags` text DEFAULT '[]' NOT NULL;

ALTER TABLE `delayed_jobs` ADD `notes` text;

ALTER TABLE `delayed_jobs` ADD `secret_headers` text;

ALTER TABLE `delayed_jobs` ADD `is_signed` integer DEFAULT false NOT NULL;

ALTER TABLE `delayed_jobs` ADD `deduplication_id` text;

CREATE UNIQUE INDEX `delayed_jobs_deduplication` ON `delayed_jobs` (`tenant_id`,`deduplication_id`) WHERE deduplication_id is not null;

ALTER TABLE `runs` ADD `run_id` text;
