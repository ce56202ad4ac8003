CREATE TABLE `mails` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text,
	`about` text,
	`kind` text NOT NULL,
	`recipient` text,
	`recipient_hash` text NOT NULL,
	`subject` text,
	`body` text,
	`state` text NOT NULL,
	`tries` integer NOT NULL,
	`due_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer,
	`attempt_id` text,
	`started_at` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `mails_id_unique` ON `mails` (`id`);

CREATE INDEX `mails_by_tenant` ON `mails` (`tenant_id`,`seq`);

CREATE INDEX `mails_by_recipient` ON `mails` (`recipient_hash`,`created_at`);

CREATE INDEX `mails_about` ON `mails` (`tenant_id`,`about`) WHERE about is not null;

CREATE INDEX `mails_by_time` ON `mails` (`created_at`);

CREATE INDEX `mails_kept` ON `mails` (`expires_at`) WHERE state = 'kept';

CREATE INDEX `mails_waiting` ON `mails` (`due_at`) WHERE state = 'waiting';

CREATE INDEX `mails_ready` ON `mails` (`tenant_id`,`due_at`,`seq`) WHERE state = 'ready';

CREATE INDEX `mails_leased` ON `mails` (`lease_until`) WHERE state = 'leased';

CREATE TABLE `gate_access_tokens` (
	`seq` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`hash` text NOT NULL,
	`key_id` text NOT NULL,
	`subject` text NOT NULL,
	`generation` integer,
	`scopes` text NOT NULL,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `gate_access_tokens_hash_unique` ON `gate_access_tokens` (`hash`);

CREATE INDEX `gate_access_tokens_by_subject` ON `gate_access_tokens` (`tenant_id`,`subject`);

CREATE INDEX `gate_access_tokens_by_expiry` ON `gate_access_tokens` (`expires_at`);

CREATE TABLE `gate_addresses` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`identity_id` text NOT NULL,
	`value` text NOT NULL,
	`status` text NOT NULL,
	`verified_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `gate_addresses_identity_id_unique` ON `gate_addresses` (`identity_id`);

CREATE TABLE `gate_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`flow_id` text NOT NULL,
	`identity_id` text,
	`generation` integer,
	`address` text NOT NULL,
	`hash` text NOT NULL,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`flow_id`) REFERENCES `gate_flows`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_codes_by_flow` ON `gate_codes` (`flow_id`);

CREATE INDEX `gate_codes_by_identity` ON `gate_codes` (`identity_id`);

CREATE TABLE `gate_credentials` (
	`tenant_id` text NOT NULL,
	`identity_id` text NOT NULL,
	`type` text NOT NULL,
	`config` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`identity_id`, `type`),
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `gate_decisions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`key_id` text NOT NULL,
	`at` integer NOT NULL,
	`subject` text NOT NULL,
	`action` text NOT NULL,
	`resource` text NOT NULL,
	`context` text NOT NULL,
	`is_allowed` integer NOT NULL,
	`reason` text NOT NULL,
	`policies` text NOT NULL,
	`policies_version` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `gate_decisions_id_unique` ON `gate_decisions` (`id`);

CREATE INDEX `gate_decisions_by_tenant` ON `gate_decisions` (`tenant_id`,`seq`);

CREATE INDEX `gate_decisions_by_subject` ON `gate_decisions` (`tenant_id`,`subject`,`seq`);

CREATE INDEX `gate_decisions_by_time` ON `gate_decisions` (`at`);

CREATE TABLE `gate_erasures` (
	`identity_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`requested_at` integer NOT NULL,
	`completed_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_erasures_by_tenant` ON `gate_erasures` (`tenant_id`);

CREATE INDEX `gate_erasures_open` ON `gate_erasures` (`identity_id`) WHERE completed_at is null;

CREATE INDEX `gate_erasures_by_time` ON `gate_erasures` (`requested_at`);

CREATE TABLE `gate_flows` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`identity_id` text,
	`session_id` text,
	`requested_aal` text NOT NULL,
	`is_refresh` integer NOT NULL,
	`active` text,
	`address` text,
	`tries` integer NOT NULL,
	`language` text NOT NULL,
	`return_to` text,
	`next_flow_id` text,
	`replaced_by` text,
	`browser_hash` text,
	`notices` text,
	`internal` text,
	`exchange_hash` text,
	`exchange_session_id` text,
	`exchange_expires_at` integer,
	`completed_at` integer,
	`issued_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_flows_by_tenant` ON `gate_flows` (`tenant_id`);

CREATE INDEX `gate_flows_by_identity` ON `gate_flows` (`identity_id`);

CREATE INDEX `gate_flows_by_expiry` ON `gate_flows` (`expires_at`);

CREATE INDEX `gate_flows_by_address` ON `gate_flows` (`tenant_id`,`address`) WHERE address is not null;

CREATE TABLE `gate_identities` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`schema_id` text NOT NULL,
	`state` text NOT NULL,
	`state_changed_at` integer NOT NULL,
	`email` text NOT NULL,
	`traits` text NOT NULL,
	`metadata_public` text NOT NULL,
	`session_generation` integer NOT NULL,
	`token_generation` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `gate_identities_id_unique` ON `gate_identities` (`id`);

CREATE UNIQUE INDEX `gate_identities_by_email` ON `gate_identities` (`tenant_id`,`email`);

CREATE INDEX `gate_identities_by_tenant` ON `gate_identities` (`tenant_id`,`seq`);

CREATE INDEX `gate_identities_by_state` ON `gate_identities` (`tenant_id`,`state`,`seq`);

CREATE INDEX `gate_identities_by_state_and_email` ON `gate_identities` (`tenant_id`,`state`,`email`);

CREATE TABLE `gate_round_trips` (
	`state_hash` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`flow_id` text NOT NULL,
	`provider` text NOT NULL,
	`secrets` text NOT NULL,
	`browser_hash` text,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`flow_id`) REFERENCES `gate_flows`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_round_trips_by_flow` ON `gate_round_trips` (`flow_id`);

CREATE TABLE `gate_sessions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`identity_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`generation` integer NOT NULL,
	`assurance_level` text NOT NULL,
	`methods` text NOT NULL,
	`authenticated_at` integer NOT NULL,
	`issued_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`ip_address` text,
	`user_agent` text,
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `gate_sessions_id_unique` ON `gate_sessions` (`id`);

CREATE UNIQUE INDEX `gate_sessions_token_hash_unique` ON `gate_sessions` (`token_hash`);

CREATE INDEX `gate_sessions_by_identity` ON `gate_sessions` (`identity_id`,`generation`,`seq`);

CREATE INDEX `gate_sessions_by_expiry` ON `gate_sessions` (`expires_at`);

CREATE TABLE `gate_settings` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`is_passwordless_enabled` integer NOT NULL,
	`is_mfa_enabled` integer NOT NULL,
	`providers` text NOT NULL,
	`return_urls` text NOT NULL,
	`policies` text,
	`policies_version` integer NOT NULL,
	`policies_updated_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `gate_social_links` (
	`tenant_id` text NOT NULL,
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`identity_id` text NOT NULL,
	`tokens` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `provider`, `subject`),
	FOREIGN KEY (`identity_id`) REFERENCES `gate_identities`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `gate_social_links_by_identity` ON `gate_social_links` (`identity_id`);

ALTER TABLE `messages` ADD `about` text;

CREATE INDEX `messages_about` ON `messages` (`tenant_id`,`about`) WHERE about is not null;
