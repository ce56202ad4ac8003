import { auditExport, auditList } from './audit.ts'
import { backup, backupCheck } from './backup.ts'
import { botDisable, botEnable, botList, botRemove, botSet } from './bot.ts'
import type { Command } from './command.ts'
import { completion } from './completion.ts'
import { configCheck, configInit, configShow } from './config.ts'
import { doctor } from './doctor.ts'
import { exportCommand } from './export.ts'
import { healthcheck } from './healthcheck.ts'
import { importCommand } from './import.ts'
import { keyCreate, keyList, keyRevoke, keyRotate } from './key.ts'
import { migrateStatus } from './migrate.ts'
import { operatorCreate, operatorList, operatorLoginLink } from './operator.ts'
import { restore } from './restore.ts'
import { secretsRotate } from './secrets.ts'
import { serve } from './serve.ts'
import {
  tenantCreate,
  tenantList,
  tenantResume,
  tenantSet,
  tenantShow,
  tenantSuspend,
  tenantUsage,
} from './tenant.ts'
import { version } from './version.ts'

/** Every verb, in the order in which the help shows them. */
export const commands: readonly Command[] = [
  serve,
  tenantCreate,
  tenantList,
  tenantShow,
  tenantUsage,
  tenantSet,
  tenantSuspend,
  tenantResume,
  keyCreate,
  keyList,
  keyRotate,
  keyRevoke,
  operatorCreate,
  operatorList,
  operatorLoginLink,
  botSet,
  botEnable,
  botDisable,
  botRemove,
  botList,
  exportCommand,
  importCommand,
  secretsRotate,
  auditList,
  auditExport,
  backup,
  backupCheck,
  restore,
  configCheck,
  configShow,
  configInit,
  doctor,
  healthcheck,
  migrateStatus,
  version,
  completion,
]
