ALTER TABLE `api_keys` ADD `name` text;

ALTER TABLE `api_keys` ADD `note` text;

ALTER TABLE `api_keys` ADD `engines` text DEFAULT '[]' NOT NULL;

ALTER TABLE `api_keys` ADD `creator_kind` text;

ALTER TABLE `api_keys` ADD `creator_id` text;

ALTER TABLE `api_keys` ADD `lifetime_ms` integer;

CREATE INDEX `api_keys_by_expiry` ON `api_keys` (`tenant_id`,`expires_at`) WHERE expires_at is not null and revoked_at is null and replaced_by is null;

UPDATE `api_keys` SET `engines` = json_array(`engine`);

ALTER TABLE `api_keys` DROP COLUMN `engine`;
