CREATE TABLE `gate_search_entries` (
	`seq` integer PRIMARY KEY NOT NULL,
	`scope` text NOT NULL,
	`state` text NOT NULL,
	`text` text NOT NULL
) STRICT;

ALTER TABLE `gate_identities` ADD `last_sign_in_at` integer DEFAULT 0 NOT NULL;

CREATE INDEX `gate_identities_by_creation` ON `gate_identities` (`tenant_id`,`created_at`,`seq`);

CREATE INDEX `gate_identities_by_state_and_creation` ON `gate_identities` (`tenant_id`,`state`,`created_at`,`seq`);

CREATE INDEX `gate_identities_by_sign_in` ON `gate_identities` (`tenant_id`,`last_sign_in_at`,`seq`);

CREATE INDEX `gate_identities_by_state_and_sign_in` ON `gate_identities` (`tenant_id`,`state`,`last_sign_in_at`,`seq`);

UPDATE `gate_identities` SET `last_sign_in_at` = ifnull((SELECT max(`authenticated_at`) FROM `gate_sessions` WHERE `identity_id` = `gate_identities`.`id`), 0);
