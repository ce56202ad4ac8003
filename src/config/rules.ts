import { type Config, PROVIDERS } from './settings.ts'

/** A rule between settings that are sound by themselves. */
export interface Conflict {
  /** The settings concerned, the one to complain about first. */
  readonly keys: readonly [string, ...string[]]
  readonly message: string
}

/** Every rule between settings that `config` breaks. */
export const conflictsIn = (config: Config): Conflict[] => [
  ...mailWithoutSender(config),
  ...codesThatOutliveTheirFlow(config),
  ...PROVIDERS.flatMap((name) => halfProvider(config, name)),
]

function mailWithoutSender({ mail }: Config): Conflict[] {
  if (mail.smtpUrl === undefined || mail.from !== undefined) return []
  return [
    { keys: ['mail.smtp_url', 'mail.from'], message: 'set from as well, the sender of mails' },
  ]
}

function codesThatOutliveTheirFlow({ gate }: Config): Conflict[] {
  if (gate.codeLifetimeMs <= gate.flowLifetimeMs) return []
  const keys = ['gate.code_lifetime', 'gate.flow_lifetime'] as const
  return [{ keys, message: 'code_lifetime must not be longer than flow_lifetime' }]
}

function halfProvider({ gate }: Config, name: (typeof PROVIDERS)[number]): Conflict[] {
  const { clientId, clientSecret } = gate.providers[name]
  if ((clientId === undefined) === (clientSecret === undefined)) return []
  const [there, missing] = clientId
    ? ['client_id', 'client_secret']
    : ['client_secret', 'client_id']
  const keys = [there, missing].map((word) => `gate.providers.${name}.${word}`)
  return [{ keys: keys as [string, string], message: `set ${missing} as well` }]
}
