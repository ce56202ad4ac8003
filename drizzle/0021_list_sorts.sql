DROP INDEX `gate_decisions_by_tenant`;

DROP INDEX `gate_decisions_by_subject`;

CREATE INDEX `gate_decisions_by_result` ON `gate_decisions` (`tenant_id`,`is_allowed`,`seq`);

CREATE INDEX `gate_decisions_by_subject_and_result` ON `gate_decisions` (`tenant_id`,`subject`,`is_allowed`,`seq`);

DROP INDEX `passepartout_people_newest`;

CREATE INDEX `passepartout_people_by_creation` ON `passepartout_people` (`tenant_id`,`platform`,`created_at`,`id`);

CREATE INDEX `passepartout_people_by_sign_in` ON `passepartout_people` (`tenant_id`,`platform`,`updated_at`,`id`);

DROP INDEX `api_keys_by_tenant`;

CREATE INDEX `api_keys_by_name` ON `api_keys` (`tenant_id`,lower(case when "name" is null then "hint" else "name" end),`id`);

CREATE INDEX `api_keys_by_use` ON `api_keys` (`tenant_id`,case when "last_used_at" is null then 0 else "last_used_at" end,`id`);

CREATE INDEX `api_keys_by_end` ON `api_keys` (`tenant_id`,case when "expires_at" is null then 8640000000000000 else "expires_at" end,`id`);

CREATE INDEX `api_keys_by_tenant` ON `api_keys` (`tenant_id`,`created_at`,`id`);

CREATE INDEX `mails_failed` ON `mails` (`state`,`seq`) WHERE state = 'failed';
