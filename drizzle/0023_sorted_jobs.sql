DROP INDEX `cron_jobs_next`;

ALTER TABLE `cron_jobs` ADD `last_status` text;

UPDATE `cron_jobs` SET `last_status` = (SELECT `status` FROM `executions` WHERE `tenant_id` = `cron_jobs`.`tenant_id` AND `job_id` = `cron_jobs`.`id` AND `status` <> 'running' ORDER BY `seq` DESC LIMIT 1);

CREATE INDEX `cron_jobs_by_name` ON `cron_jobs` (`tenant_id`,name collate nocase,`seq`);

CREATE INDEX `cron_jobs_by_last_run` ON `cron_jobs` (`tenant_id`,case when last_run_at is null then 0 else last_run_at end,`seq`);

CREATE INDEX `cron_jobs_by_next_run` ON `cron_jobs` (`tenant_id`,case when is_active = 1 then next_run_at else 9000000000000000 end,`seq`);

CREATE INDEX `cron_jobs_tagged` ON `cron_jobs` (`tenant_id`) WHERE tags <> '[]';

CREATE INDEX `cron_jobs_by_state` ON `cron_jobs` (`tenant_id`,`last_status`,`is_active`);

CREATE INDEX `delayed_jobs_by_creation` ON `delayed_jobs` (`tenant_id`,`created_at`,`seq`);
