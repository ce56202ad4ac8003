import { ALL_PROVIDERS, type AnyProvider, type Config } from './settings.ts'

/** A conflict between settings that are valid by themselves. */
export interface Conflict {
  /** The settings in conflict; the error names the first of them that was set. */
  readonly keys: readonly [string, ...string[]]
  readonly message: string
}

/** All conflicts in `config`. */
export const conflictsIn = (config: Config): Conflict[] => [
  ...mailWithoutSender(config),
  ...codesThatOutliveTheirFlow(config),
  ...backupsInTwoPlaces(config),
  ...storageWithoutKey(config),
  ...replicaWithoutLog(config),
  ...unfitPair(config),
  ...ALL_PROVIDERS.flatMap((name) => unfitProvider(config, name)),
]

function mailWithoutSender({ mail }: Config): Conflict[] {
  if (mail.smtpUrl === undefined || mail.from !== undefined) return []
  return [
    { keys: ['mail.smtp_url', 'mail.from'], message: 'also set from, the sender of all emails' },
  ]
}

function codesThatOutliveTheirFlow({ gate }: Config): Conflict[] {
  if (gate.codeLifetimeMs <= gate.flowLifetimeMs) return []
  const keys = ['gate.code_lifetime', 'gate.flow_lifetime'] as const
  return [{ keys, message: 'code_lifetime must not be longer than flow_lifetime' }]
}

function backupsInTwoPlaces({ backup }: Config): Conflict[] {
  if (backup.to === undefined || backup.directory === undefined) return []
  return [{ keys: ['backup.to', 'backup.directory'], message: 'set either to or directory' }]
}

function storageWithoutKey({ backup, replication, s3 }: Config): Conflict[] {
  const user = backup.to ? 'backup.to' : replication.to ? 'replication.to' : undefined
  const [id, secret] = [s3.accessKeyId !== undefined, s3.secretAccessKey !== undefined]
  if (id && secret) return []
  if (id || secret)
    return [
      {
        keys: ['s3.access_key_id', 's3.secret_access_key'],
        message: `also set ${id ? 'secret_access_key' : 'access_key_id'}`,
      },
    ]
  if (user === undefined) return []
  return [{ keys: [user], message: 'also set access_key_id and secret_access_key under [s3]' }]
}

function replicaWithoutLog({ replication, database }: Config): Conflict[] {
  if (replication.acknowledge === 'local' || database.externalCheckpoint) return []
  const message = 'also set [database] external_checkpoint = true'
  return [{ keys: ['replication.acknowledge'], message }]
}

function unfitPair({ replication, database }: Config): Conflict[] {
  const { role, to, keyFile, passphrase } = replication
  const conflicts: Conflict[] = []
  if (keyFile !== undefined && passphrase !== undefined)
    conflicts.push({
      keys: ['replication.passphrase', 'replication.key_file'],
      message: 'set either passphrase or key_file',
    })
  if (role === 'single') return conflicts
  if (to === undefined)
    conflicts.push({
      keys: ['replication.role'],
      message: 'also set to, the folder in object storage that the servers share',
    })
  if (!database.externalCheckpoint)
    conflicts.push({
      keys: ['replication.role'],
      message: 'also set [database] external_checkpoint = true',
    })
  return conflicts
}

/** The settings that a provider needs, by their names in its table. */
export const requiredOf = (name: AnyProvider): readonly string[] =>
  name === 'apple'
    ? ['client_id', 'team_id', 'key_id', 'private_key']
    : ['client_id', 'client_secret']

function unfitProvider({ gate }: Config, name: AnyProvider): Conflict[] {
  const { clientId, clientSecret, teamId, keyId, privateKey } = gate.providers[name]
  const all: Words = {
    client_id: clientId,
    client_secret: clientSecret,
    team_id: teamId,
    key_id: keyId,
    private_key: privateKey,
  }
  const required = requiredOf(name)
  const only = (isWanted: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([word]) => required.includes(word) === isWanted))
  const message =
    name === 'apple'
      ? `set ${required.slice(1).join(', ')} instead`
      : 'only apple uses this: remove it'
  const misplaced = inVain(name, only(false), message)
  return misplaced.length > 0 ? misplaced : half(name, only(true))
}

type Words = Readonly<Record<string, string | undefined>>

const keyOf = (name: AnyProvider, word: string) => `gate.providers.${name}.${word}`

/** Settings that this provider does not use. */
const inVain = (name: AnyProvider, words: Words, message: string): Conflict[] =>
  Object.keys(words)
    .filter((word) => words[word] !== undefined)
    .map((word) => ({ keys: [keyOf(name, word)], message }))

/** A conflict if only some of the settings are set. */
function half(name: AnyProvider, words: Words): Conflict[] {
  const [there = [], missing = []] = [true, false].map((isThere) =>
    Object.keys(words).filter((word) => (words[word] !== undefined) === isThere),
  )
  if (there.length === 0 || missing.length === 0) return []
  const [first = '', ...rest] = [...there, ...missing].map((word) => keyOf(name, word))
  return [{ keys: [first, ...rest], message: `also set ${missing.join(', ')}` }]
}
