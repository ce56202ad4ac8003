ALTER TABLE `console_invitations` ADD `is_mailed` integer DEFAULT false NOT NULL;

ALTER TABLE `console_links` ADD `mailed_to` text;
