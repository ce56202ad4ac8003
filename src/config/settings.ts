import { signingKey } from './keys.ts'
import { list } from './kind.ts'
import { choice, duration, integer, line, path, size, tick, toggle, word } from './kinds.ts'
import { allowed, baseUrl, endpoint, host, mailbox, network, smtpUrl } from './places.ts'
import { secret, setting, table, tableEach, unset, type ValuesOf } from './setting.ts'

/** Whom the people of a tenant can sign in with. */
export const PROVIDERS = [
  'github',
  'google',
  'gitlab',
  'microsoft',
  'discord',
  'facebook',
  'linkedin',
  'apple',
  'slack',
  'twitch',
  'spotify',
] as const

export type ProviderName = (typeof PROVIDERS)[number]

/** Whom operators can sign in with at the console, by applications of its own. */
export const OPERATOR_PROVIDERS = ['github-tenant', 'google-tenant'] as const

export const ALL_PROVIDERS = [...PROVIDERS, ...OPERATOR_PROVIDERS] as const

export type AnyProvider = (typeof ALL_PROVIDERS)[number]

const kept = duration('1s', '3650d')

/** A table a provider: how this instance is known there, and where it is. */
const providers = tableEach(
  ALL_PROVIDERS,
  `Sign-in with an account elsewhere. Such a table may exist for each of ${PROVIDERS.join(', ')}, ` +
    `and for operators of the console ${OPERATOR_PROVIDERS.join(' and ')}; ` +
    'without client_id and client_secret the provider is off. apple wants team_id, key_id and ' +
    'private_key in place of client_secret. Addresses are built in: set them only for an ' +
    'installation of your own, by https unless it is on this machine.',
  {
    clientId: unset(line(500), 'What the provider calls this instance.'),
    clientSecret: secret(line(4000), 'The secret that belongs to client_id.'),
    teamId: unset(line(100), 'For apple alone: the team of the developer account.'),
    keyId: unset(line(100), 'For apple alone: the id of private_key.'),
    privateKey: secret(signingKey, 'For apple alone: the key for signing in with Apple.'),
    baseUrl: unset(
      baseUrl,
      'The front of all addresses of the provider; for microsoft it ends in the directory.',
    ),
    authorizeUrl: unset(endpoint, 'Where people are sent to sign in.'),
    tokenUrl: unset(endpoint, 'Where a code is exchanged for tokens.'),
    userinfoUrl: unset(endpoint, 'Where the profile is read.'),
    issuer: unset(endpoint, 'Who must have issued an ID token, letter by letter.'),
    jwksUrl: unset(endpoint, 'Where the keys that sign ID tokens are read.'),
  },
)

/**
 * Every setting, declared once. Names are those of the program; the file has them in
 * snake_case and without the unit: `maxBodyBytes` is `max_body = "1MB"`.
 */
export const settings = {
  dataDir: setting(path, './data', 'The directory that holds everything Gatehouse keeps.'),

  server: table('Where Gatehouse listens.', {
    host: setting(host, '127.0.0.1', 'The address to listen on; 0.0.0.0 opens every network.'),
    port: setting(integer(0, 65_535), 8420, 'The port to listen on; 0 takes any free one.'),
    baseUrl: unset(
      baseUrl,
      'The address people use, as it stands in links and mails; unset, the one listened on.',
    ),
    trustedProxies: setting(
      list(network, 0, 100),
      [],
      'Reverse proxies whose X-Forwarded-For names the client.',
    ),
    maxBodyBytes: setting(size('1KB', '100MB'), '1MB', 'The largest request body that is read.'),
    drainMs: setting(
      duration('0s', '5m'),
      '0s',
      'How long to go on answering after SIGTERM, until a balancer has noticed.',
    ),
  }),

  brand: table('The names that other programs see. Change them before the first key is made.', {
    prefix: setting(
      word(/^[a-z][a-z0-9]{0,15}$/, 'a lower-case letter and up to 15 letters or digits'),
      'svc',
      'The first part of every API key.',
    ),
    name: setting(
      word(
        /^[A-Za-z]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/,
        'a word of up to 32 letters, digits and -',
      ),
      'Service',
      'The middle of the signature header, X-Service-Signature.',
    ),
  }),

  database: table('How data reaches the disk.', {
    synchronous: setting(
      choice('full', 'normal'),
      'full',
      'With full, an answer means the data is on disk; normal may lose the last ones at power loss.',
    ),
    externalCheckpoint: setting(
      toggle,
      false,
      'Leaves checkpoints to a replicator such as Litestream.',
    ),
  }),

  outbound: table('Calls to addresses that tenants choose.', {
    allow: setting(
      list(allowed, 0, 1000),
      [],
      'What may be called beyond the public internet, such as homeassistant:8123 or 10.0.0.0/8.',
    ),
    timeoutMs: setting(
      duration('1s', '15m'),
      '30s',
      'The longest a call may take, from the name to the last byte.',
    ),
    maxResponseBytes: setting(size('1KB', '10MB'), '64KB', 'How much of an answer is read.'),
  }),

  mail: table('Codes and notices. Mails are kept until there is smtp_url, or they expire.', {
    smtpUrl: secret(
      smtpUrl,
      'The server that takes mail; smtps:// for TLS from the first byte. In a password, anything ' +
        'but letters and digits is percent-encoded.',
    ),
    from: unset(mailbox, 'The sender of every mail.'),
  }),

  metering: table('What a month of requests includes and costs. Months are those of UTC.', {
    freeRequests: setting(
      integer(0, 1_000_000_000_000),
      3000,
      'Requests a month that cost nothing.',
    ),
    overagePriceCents: setting(
      integer(0, 1_000_000_000),
      300,
      'What each overage_per requests beyond them cost, billed pro rata.',
    ),
    overagePer: setting(integer(1, 1_000_000_000), 10_000, 'How many requests that price buys.'),
    defaultPlan: setting(
      choice('free', 'metered', 'unlimited'),
      'unlimited',
      'The plan of a tenant that you create without naming one.',
    ),
    defaultSpendCapCents: setting(
      integer(0, 1_000_000_000_000),
      5000,
      'The most a metered tenant spends a month unless it sets a cap of its own.',
    ),
  }),

  limits: table('How fast callers may go.', {
    requestsPerMinute: setting(integer(1, 10_000_000), 6000, 'Requests with one API key.'),
    signInsPerMinute: setting(integer(1, 1_000_000), 60, 'Tries to sign in from one address.'),
    signInsPerIdentifierPerMinute: setting(
      integer(1, 1_000_000),
      10,
      'Tries to sign in as one person, from anywhere.',
    ),
    loginStartsPerMinute: setting(
      integer(1, 1_000_000),
      10,
      'Messenger sign-ins started with a live key for one address, where the app tells it.',
    ),
  }),

  gate: table('Identities and their sessions.', {
    flowLifetimeMs: setting(duration('1s', '24h'), '1h', 'How long a started sign-in can go on.'),
    sessionLifetimeMs: setting(duration('1s', '3650d'), '24h', 'How long a session lasts.'),
    codeLifetimeMs: setting(duration('1s', '24h'), '15m', 'How long a code from a mail is good.'),
    webhookDelaysMs: setting(
      list(duration('0s', '1h'), 1, 20),
      ['0s', '1s', '2s'],
      'The wait before each attempt at a webhook, the first included.',
    ),
    password: table('Passwords, and what an attacker has to spend on guessing one.', {
      minLength: setting(integer(8, 128), 8, 'The fewest characters of a new password.'),
      memoryBytes: setting(size('8MB', '1GB'), '19MB', 'Memory for one hash (argon2id).'),
      iterations: setting(integer(1, 20), 2, 'Passes over that memory.'),
      queue: setting(integer(1, 10_000), 50, 'Sign-ins of a tenant that may wait for a processor.'),
    }),
    providers,
  }),

  clockwork: table('Jobs on a schedule.', {
    tickMs: setting(tick, '60s', 'How often due jobs are looked for.'),
    retryDelaysMs: setting(
      list(duration('0s', '30d'), 0, 20),
      ['1m', '5m'],
      'The wait before each further attempt at a failed run.',
    ),
    timeoutMs: setting(duration('1s', '15m'), '30s', 'The longest an attempt may take.'),
  }),

  relay: table('Events to subscribers.', {
    retryDelaysMs: setting(
      list(duration('0s', '30d'), 0, 20),
      ['5s', '1m', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'],
      'The wait before each further attempt at a failed delivery.',
    ),
    timeoutMs: setting(duration('1s', '15m'), '15s', 'The longest an attempt may take.'),
    idempotencyWindowMs: setting(
      duration('1s', '30d'),
      '24h',
      'How long a repeated idempotency key is answered with the first message.',
    ),
    breakerFailures: setting(
      integer(1, 1000),
      5,
      'Failures in a row after which an endpoint is left alone for a while.',
    ),
  }),

  passepartout: table('Sign-in through a messenger.', {
    nonceLifetimeMs: setting(duration('1s', '1h'), '5m', 'How long a started sign-in can go on.'),
    tokenLifetimeMs: setting(duration('1s', '365d'), '1h', 'How long an access token is good.'),
    telegramApiRoot: setting(
      baseUrl,
      'https://api.telegram.org',
      'The Bot API; change it only for a server of your own.',
    ),
  }),

  console: table('The pages for people who run things.', {
    signup: setting(
      choice('closed', 'open'),
      'closed',
      'Whether strangers may make an account and a tenant.',
    ),
    signupPlan: setting(
      choice('free', 'metered', 'unlimited'),
      'free',
      'The plan of a tenant that a stranger creates by signing up.',
    ),
  }),

  retention: table('How long what is over and done is kept.', {
    auditMs: setting(kept, '365d', 'The audit log.'),
    decisionsMs: setting(kept, '30d', 'Answers to authorization questions, with their inputs.'),
    deliveriesMs: setting(kept, '30d', 'Webhook and relay messages, with deliveries and attempts.'),
    countersMs: setting(kept, '365d', 'How endpoints did, counted by the hour.'),
    delayedJobsMs: setting(kept, '30d', 'Delayed jobs that ended.'),
    failedExecutionsMs: setting(kept, '7d', 'Failed runs beyond the newest 100 of a cron job.'),
    mailsMs: setting(kept, '30d', 'Mails that were sent or given up.'),
    usageMs: setting(kept, '1095d', 'Counts of requests, and what they cost.'),
    loginsMs: setting(kept, '30d', 'Messenger sign-ins, with where they were started.'),
    expiredMs: setting(kept, '1d', 'Sessions, tokens, codes and started sign-ins past their end.'),
  }),

  log: table('What is written to standard output.', {
    level: setting(choice('debug', 'info', 'warn', 'error'), 'info', 'The least that is written.'),
    format: setting(
      choice('auto', 'text', 'json'),
      'auto',
      'auto is text on a terminal and JSON elsewhere.',
    ),
  }),

  backup: table('Backups that Gatehouse makes by itself, beside those made by command.', {
    enabled: setting(toggle, false, 'Whether to make them.'),
    everyMs: setting(duration('1m', '30d'), '24h', 'The time between two.'),
    keep: setting(integer(1, 1000), 7, 'How many to keep.'),
    directory: unset(path, 'Where they go, a directory that is there; unset, backups in data_dir.'),
  }),

  metrics: table('Numbers for Prometheus.', {
    enabled: setting(toggle, false, 'Whether GET /metrics answers.'),
  }),
}

/** All settings with their values. Frozen; each part of the program is handed its own slice. */
export type Config = ValuesOf<typeof settings>
