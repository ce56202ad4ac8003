CREATE TABLE `branding` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`display_name` text,
	`accent` text,
	`support_url` text,
	`terms_url` text,
	`privacy_url` text,
	`sender_name` text,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `branding_logos` (
	`tenant_id` text NOT NULL,
	`theme` text NOT NULL,
	`type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`hash` text NOT NULL,
	`data` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `theme`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `gate_mail_texts` (
	`tenant_id` text NOT NULL,
	`mail` text NOT NULL,
	`language` text NOT NULL,
	`subject` text,
	`intro` text,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `mail`, `language`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
