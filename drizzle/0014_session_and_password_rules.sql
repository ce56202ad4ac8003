ALTER TABLE `gate_sessions` ADD `last_seen_at` integer;

ALTER TABLE `gate_settings` ADD `session_lifetime_ms` integer;

ALTER TABLE `gate_settings` ADD `session_idle_ms` integer;

ALTER TABLE `gate_settings` ADD `session_idle_set_at` integer;

ALTER TABLE `gate_settings` ADD `password_min_length` integer;
