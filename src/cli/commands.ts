import { alertList, alertMute, alertUnmute } from './alert.ts'
import { apply } from './apply.ts'
import { auditExport, auditList } from './audit.ts'
import { backup, backupCheck } from './backup.ts'
import { botDisable, botEnable, botList, botRemove, botSet } from './bot.ts'
import { channelAdd, channelList, channelRemove, channelTest } from './channel.ts'
import type { Command } from './command.ts'
import { completionOf } from './completion.ts'
import { configCheck, configInit, configShow } from './config.ts'
import { doctor } from './doctor.ts'
import { exportCommand } from './export.ts'
import { healthcheck } from './healthcheck.ts'
import { importCommand } from './import.ts'
import { keyCreate, keyList, keyRevoke, keyRotate, keySet } from './key.ts'
import { migrateStatus } from './migrate.ts'
import {
  operatorDeactivate,
  operatorLoginLink,
  operatorReactivate,
  operatorSignOut,
  operatorTakeAdmin,
} from './operator/access.ts'
import { operatorCreate } from './operator/create.ts'
import { operatorList } from './operator/list.ts'
import { restore } from './restore.ts'
import { secretsRotate } from './secrets.ts'
import { serve } from './serve.ts'
import {
  tenantCreate,
  tenantDelete,
  tenantList,
  tenantResume,
  tenantSet,
  tenantShow,
  tenantSuspend,
  tenantUsage,
} from './tenant.ts'
import { version } from './version.ts'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  tenantCreate,
  tenantList,
  tenantShow,
  tenantUsage,
  tenantSet,
  tenantSuspend,
  tenantResume,
  tenantDelete,
  keyCreate,
  keyList,
  keyRotate,
  keySet,
  keyRevoke,
  operatorCreate,
  operatorList,
  operatorLoginLink,
  operatorSignOut,
  operatorDeactivate,
  operatorReactivate,
  operatorTakeAdmin,
  botSet,
  botEnable,
  botDisable,
  botRemove,
  botList,
  apply,
  channelAdd,
  channelList,
  channelTest,
  channelRemove,
  alertList,
  alertMute,
  alertUnmute,
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
  completionOf(() => commands),
]
