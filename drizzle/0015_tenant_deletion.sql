ALTER TABLE `tenants` ADD `deletion_started_at` integer;

CREATE INDEX `tenants_in_deletion` ON `tenants` (`id`) WHERE deletion_started_at is not null;
