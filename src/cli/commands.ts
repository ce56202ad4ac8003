import type { Command } from './command.ts'

const alert = () => import('./alert.ts')
const audit = () => import('./audit.ts')
const bot = () => import('./bot.ts')
const channel = () => import('./channel.ts')
const config = () => import('./config.ts')
const key = () => import('./key.ts')
const operatorAccess = () => import('./operator/access.ts')
const handover = () => import('./replication/handover.ts')
const keys = () => import('./replication/keys.ts')
const tenant = () => import('./tenant.ts')

/**
 * Loads each command by its name, in the order of the help. A command's modules are evaluated only
 * when it is needed: `version` and `healthcheck` would otherwise wait for the whole server.
 */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: () => import('./serve.ts').then(({ serve }) => serve),
  'tenant create': () => tenant().then(({ tenantCreate }) => tenantCreate),
  'tenant list': () => tenant().then(({ tenantList }) => tenantList),
  'tenant show': () => tenant().then(({ tenantShow }) => tenantShow),
  'tenant usage': () => tenant().then(({ tenantUsage }) => tenantUsage),
  'tenant set': () => tenant().then(({ tenantSet }) => tenantSet),
  'tenant suspend': () => tenant().then(({ tenantSuspend }) => tenantSuspend),
  'tenant resume': () => tenant().then(({ tenantResume }) => tenantResume),
  'tenant delete': () => tenant().then(({ tenantDelete }) => tenantDelete),
  'key create': () => key().then(({ keyCreate }) => keyCreate),
  'key list': () => key().then(({ keyList }) => keyList),
  'key rotate': () => key().then(({ keyRotate }) => keyRotate),
  'key set': () => key().then(({ keySet }) => keySet),
  'key revoke': () => key().then(({ keyRevoke }) => keyRevoke),
  'operator create': () =>
    import('./operator/create.ts').then(({ operatorCreate }) => operatorCreate),
  'operator list': () => import('./operator/list.ts').then(({ operatorList }) => operatorList),
  'operator login-link': () => operatorAccess().then(({ operatorLoginLink }) => operatorLoginLink),
  'operator sign-out': () => operatorAccess().then(({ operatorSignOut }) => operatorSignOut),
  'operator deactivate': () =>
    operatorAccess().then(({ operatorDeactivate }) => operatorDeactivate),
  'operator reactivate': () =>
    operatorAccess().then(({ operatorReactivate }) => operatorReactivate),
  'operator take-admin': () => operatorAccess().then(({ operatorTakeAdmin }) => operatorTakeAdmin),
  'bot set': () => bot().then(({ botSet }) => botSet),
  'bot enable': () => bot().then(({ botEnable }) => botEnable),
  'bot disable': () => bot().then(({ botDisable }) => botDisable),
  'bot remove': () => bot().then(({ botRemove }) => botRemove),
  'bot list': () => bot().then(({ botList }) => botList),
  apply: () => import('./apply.ts').then(({ apply }) => apply),
  'channel add': () => channel().then(({ channelAdd }) => channelAdd),
  'channel list': () => channel().then(({ channelList }) => channelList),
  'channel test': () => channel().then(({ channelTest }) => channelTest),
  'channel remove': () => channel().then(({ channelRemove }) => channelRemove),
  'alert list': () => alert().then(({ alertList }) => alertList),
  'alert mute': () => alert().then(({ alertMute }) => alertMute),
  'alert unmute': () => alert().then(({ alertUnmute }) => alertUnmute),
  export: () => import('./export.ts').then(({ exportCommand }) => exportCommand),
  import: () => import('./import.ts').then(({ importCommand }) => importCommand),
  'secrets rotate': () => import('./secrets.ts').then(({ secretsRotate }) => secretsRotate),
  'audit list': () => audit().then(({ auditList }) => auditList),
  'audit export': () => audit().then(({ auditExport }) => auditExport),
  backup: () => import('./backup/create.ts').then(({ backup }) => backup),
  'backup check': () => import('./backup/check.ts').then(({ backupCheck }) => backupCheck),
  'backup list': () => import('./backup/list.ts').then(({ backupList }) => backupList),
  'backup keygen': () => import('./backup/keygen.ts').then(({ backupKeygen }) => backupKeygen),
  restore: () => import('./restore.ts').then(({ restore }) => restore),
  'replication status': () =>
    import('./replication/status.ts').then(({ replicationStatus }) => replicationStatus),
  'replication promote': () => handover().then(({ replicationPromote }) => replicationPromote),
  'replication step-down': () => handover().then(({ replicationStepDown }) => replicationStepDown),
  'replication store-key': () => keys().then(({ replicationStoreKey }) => replicationStoreKey),
  'replication fetch-key': () => keys().then(({ replicationFetchKey }) => replicationFetchKey),
  'config check': () => config().then(({ configCheck }) => configCheck),
  'config show': () => config().then(({ configShow }) => configShow),
  'config init': () => config().then(({ configInit }) => configInit),
  doctor: () => import('./doctor.ts').then(({ doctor }) => doctor),
  healthcheck: () => import('./healthcheck.ts').then(({ healthcheck }) => healthcheck),
  'migrate status': () => import('./migrate.ts').then(({ migrateStatus }) => migrateStatus),
  version: () => import('./version.ts').then(({ version }) => version),
  completion: () =>
    import('./completion.ts').then(({ completionOf }) => completionOf(loadCommands)),
}

/** The names of all commands, in the order of the help. */
export const commandNames: readonly string[] = Object.keys(LOADERS)

/** Loads the command with this name; undefined if there is none. */
export const loadCommand = (name: string): Promise<Command> | undefined =>
  Object.hasOwn(LOADERS, name) ? LOADERS[name]?.() : undefined

/** Loads all commands, in the order of the help. */
export const loadCommands = (): Promise<Command[]> =>
  Promise.all(Object.values(LOADERS).map((load) => load()))
