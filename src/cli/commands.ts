import { botDisable, botEnable, botList, botRemove, botSet } from './bot.ts'
import type { Command } from './command.ts'
import { completion } from './completion.ts'
import { configCheck, configInit, configShow } from './config.ts'
import { doctor } from './doctor.ts'
import { healthcheck } from './healthcheck.ts'
import { keyCreate, keyList, keyRevoke, keyRotate } from './key.ts'
import { migrateStatus } from './migrate.ts'
import { serve } from './serve.ts'
import {
  tenantCreate,
  tenantList,
  tenantResume,
  tenantSet,
  tenantShow,
  tenantSuspend,
} from './tenant.ts'
import { version } from './version.ts'

/** Every verb, in the order in which the help shows them. */
export const commands: readonly Command[] = [
  serve,
  tenantCreate,
  tenantList,
  tenantShow,
  tenantSet,
  tenantSuspend,
  tenantResume,
  keyCreate,
  keyList,
  keyRotate,
  keyRevoke,
  botSet,
  botEnable,
  botDisable,
  botRemove,
  botList,
  configCheck,
  configShow,
  configInit,
  doctor,
  healthcheck,
  migrateStatus,
  version,
  completion,
]
