ALTER TABLE `tenants` ADD `time_zone` text DEFAULT 'UTC' NOT NULL;
