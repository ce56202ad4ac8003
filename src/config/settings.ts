import {
  allowed,
  baseUrl,
  endpoint,
  host,
  mailbox,
  network,
  objectUrl,
  smtpUrl,
} from './addresses.ts'
import { ageRecipient, signingKey } from './keys.ts'
import { list } from './kind.ts'
import {
  choice,
  duration,
  integer,
  integerOr,
  line,
  path,
  size,
  tick,
  toggle,
  word,
} from './kinds.ts'
import { secret, setting, table, tableEach, unset, type ValuesOf } from './setting.ts'

/** Social login providers for the users of tenants. */
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

/** Social login providers for operators of the console, with separate applications. */
export const OPERATOR_PROVIDERS = ['github-tenant', 'google-tenant'] as const

export const ALL_PROVIDERS = [...PROVIDERS, ...OPERATOR_PROVIDERS] as const

export type AnyProvider = (typeof ALL_PROVIDERS)[number]

const kept = duration('1s', '3650d')

/** One table per provider: the application's credentials there, and URLs. */
const providers = tableEach(
  ALL_PROVIDERS,
  `Social login. Add one table per provider: ${PROVIDERS.join(', ')}; ` +
    `for operators of the console, ${OPERATOR_PROVIDERS.join(' and ')}. ` +
    'A provider without client_id and client_secret is off. apple needs team_id, key_id and ' +
    'private_key instead of client_secret. URLs are built in. Set them only for a self-hosted ' +
    'provider; they must use https, except on this machine.',
  {
    clientId: unset(line(500), 'The client id from the provider.'),
    clientSecret: secret(line(4000), 'The client secret from the provider.'),
    teamId: unset(line(100), 'Only for apple: the team id of the developer account.'),
    keyId: unset(line(100), 'Only for apple: the id of private_key.'),
    privateKey: secret(signingKey, 'Only for apple: the private key for Sign in with Apple.'),
    baseUrl: unset(
      baseUrl,
      'The start of all URLs of the provider. For microsoft, it ends with the directory.',
    ),
    authorizeUrl: unset(endpoint, "URL of the provider's sign-in page."),
    tokenUrl: unset(endpoint, 'URL that exchanges a code for tokens.'),
    userinfoUrl: unset(endpoint, 'URL of the user profile.'),
    issuer: unset(endpoint, 'The exact issuer of ID tokens.'),
    jwksUrl: unset(endpoint, 'URL of the keys that sign ID tokens.'),
  },
)

/** Every setting. The file uses snake_case without units: `maxBodyBytes` is `max_body = "1MB"`. */
export const settings = {
  dataDir: setting(path, './data', 'The directory for all data.'),

  server: table('The HTTP server.', {
    host: setting(host, '127.0.0.1', 'The address to listen on. 0.0.0.0 listens on all networks.'),
    port: setting(integer(0, 65_535), 8420, 'The port to listen on. 0 chooses a free port.'),
    processes: setting(
      integerOr(1, 64, 'auto'),
      1,
      'How many processes serve the port. auto is one per processor core. More than 1 needs Linux.',
    ),
    baseUrl: unset(
      baseUrl,
      'The public URL, used in links and mails. Default: the address listened on.',
    ),
    trustedProxies: setting(
      list(network, 0, 100),
      [],
      'Reverse proxies whose X-Forwarded-For header is trusted.',
    ),
    maxBodyBytes: setting(size('1KB', '100MB'), '1MB', 'The maximum size of a request body.'),
    drainMs: setting(
      duration('0s', '5m'),
      '0s',
      'How long to keep serving after SIGTERM, so that a load balancer can react.',
    ),
  }),

  brand: table('Names in API keys and headers. Set them before you create the first API key.', {
    prefix: setting(
      word(/^[a-z][a-z0-9]{0,15}$/, 'a lowercase letter and up to 15 lowercase letters or digits'),
      'svc',
      'The prefix of API keys.',
    ),
    name: setting(
      word(
        /^[A-Za-z]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/,
        'a word of up to 32 letters, digits and hyphens',
      ),
      'Service',
      'The middle part of the signature header, X-Service-Signature.',
    ),
  }),

  database: table('The database.', {
    synchronous: setting(
      choice('full', 'normal'),
      'full',
      'full syncs to disk before each response. normal can lose the last writes at power loss.',
    ),
    externalCheckpoint: setting(
      toggle,
      false,
      'Leave checkpoints to a replicator such as Litestream.',
    ),
  }),

  outbound: table('Calls to URLs that tenants choose.', {
    allow: setting(
      list(allowed, 0, 1000),
      [],
      'Private hosts and networks that may be called, such as homeassistant:8123 or 10.0.0.0/8.',
    ),
    timeoutMs: setting(
      duration('1s', '15m'),
      '30s',
      'The timeout of a call, from the DNS lookup to the last byte.',
    ),
    maxResponseBytes: setting(
      size('1KB', '10MB'),
      '64KB',
      'The maximum size of a response. The rest is not read.',
    ),
  }),

  mail: table('Emails with codes and notices. Without smtp_url, they are kept until they expire.', {
    smtpUrl: secret(
      smtpUrl,
      'The mail server. smtps:// uses TLS from the first byte. Percent-encode everything in the ' +
        'password except letters and digits.',
    ),
    from: unset(mailbox, 'The sender of all emails.'),
  }),

  metering: table('Plans and prices of requests. Months are in UTC.', {
    freeRequests: setting(integer(0, 1_000_000_000_000), 3000, 'Free requests per month.'),
    overagePriceCents: setting(
      integer(0, 1_000_000_000),
      300,
      'The price of overage_per more requests, billed pro rata.',
    ),
    overagePer: setting(
      integer(1, 1_000_000_000),
      10_000,
      'How many requests overage_price_cents pays for.',
    ),
    defaultPlan: setting(
      choice('free', 'metered', 'unlimited'),
      'unlimited',
      'The plan of tenants that you create without a plan.',
    ),
    defaultSpendCapCents: setting(
      integer(0, 1_000_000_000_000),
      5000,
      'The monthly spend cap of metered tenants that have not set one.',
    ),
  }),

  limits: table('Rate limits per minute.', {
    requestsPerMinute: setting(integer(1, 10_000_000), 6000, 'Requests per API key.'),
    signInsPerMinute: setting(integer(1, 1_000_000), 60, 'Sign-in attempts per client address.'),
    signInsPerIdentifierPerMinute: setting(
      integer(1, 1_000_000),
      10,
      'Sign-in attempts per user, from all addresses.',
    ),
    loginStartsPerMinute: setting(
      integer(1, 1_000_000),
      10,
      'Messenger logins started with a live key, per client address that the app sends.',
    ),
  }),

  gate: table('Users and sign-in.', {
    flowLifetimeMs: setting(duration('1s', '24h'), '1h', 'How long a started sign-in is valid.'),
    sessionLifetimeMs: setting(duration('1s', '3650d'), '24h', 'How long a session lasts.'),
    codeLifetimeMs: setting(duration('1s', '24h'), '15m', 'How long an email code is valid.'),
    webhookDelaysMs: setting(
      list(duration('0s', '1h'), 1, 20),
      ['0s', '1s', '2s'],
      'The delay before each attempt of a webhook, including the first.',
    ),
    password: table('Passwords and the cost of their hashes.', {
      minLength: setting(integer(8, 128), 8, 'The minimum length of a new password.'),
      memoryBytes: setting(size('8MB', '1GB'), '19MB', 'Memory per hash (argon2id).'),
      iterations: setting(integer(1, 20), 2, 'Iterations per hash (argon2id).'),
      queue: setting(
        integer(1, 10_000),
        50,
        'Maximum number of password checks of a tenant that wait for a processor.',
      ),
    }),
    providers,
  }),

  clockwork: table('Scheduled jobs.', {
    tickMs: setting(tick, '60s', 'How often to check for due jobs.'),
    retryDelaysMs: setting(
      list(duration('0s', '30d'), 0, 20),
      ['1m', '5m'],
      'The delay before each retry of a failed run.',
    ),
    timeoutMs: setting(duration('1s', '15m'), '30s', 'The longest an attempt may take.'),
  }),

  relay: table('Webhooks to subscribers.', {
    retryDelaysMs: setting(
      list(duration('0s', '30d'), 0, 20),
      ['5s', '1m', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'],
      'The delay before each retry of a failed delivery.',
    ),
    timeoutMs: setting(duration('1s', '15m'), '15s', 'The longest an attempt may take.'),
    idempotencyWindowMs: setting(
      duration('1s', '30d'),
      '24h',
      'How long a repeated idempotency key returns the first message.',
    ),
    breakerFailures: setting(
      integer(1, 1000),
      5,
      'Consecutive failures before deliveries to an endpoint are held for a while.',
    ),
  }),

  passepartout: table('Messenger login.', {
    nonceLifetimeMs: setting(duration('1s', '1h'), '5m', 'How long a started sign-in is valid.'),
    tokenLifetimeMs: setting(duration('1s', '365d'), '1h', 'How long an access token is valid.'),
    telegramApiRoot: setting(
      baseUrl,
      'https://api.telegram.org',
      'The Telegram Bot API. Change it only for your own Bot API server.',
    ),
  }),

  console: table('The console.', {
    signup: setting(
      choice('closed', 'open'),
      'closed',
      'Whether anyone can create an account and a tenant.',
    ),
    signupPlan: setting(
      choice('free', 'metered', 'unlimited'),
      'free',
      'The plan of tenants created at sign-up.',
    ),
  }),

  retention: table('How long to keep data.', {
    auditMs: setting(kept, '365d', 'The audit log.'),
    decisionsMs: setting(kept, '30d', 'Authorization decisions with their inputs.'),
    deliveriesMs: setting(
      kept,
      '30d',
      'Webhook and relay messages with their deliveries and attempts.',
    ),
    countersMs: setting(kept, '365d', 'Hourly counters of endpoints and event types.'),
    delayedJobsMs: setting(kept, '30d', 'Finished delayed jobs.'),
    failedExecutionsMs: setting(kept, '7d', 'Failed runs of a cron job beyond its newest 100.'),
    mailsMs: setting(kept, '30d', 'Emails that were sent or failed.'),
    usageMs: setting(kept, '1095d', 'Request counts and costs.'),
    loginsMs: setting(kept, '30d', 'Messenger logins with client addresses and devices.'),
    expiredMs: setting(kept, '1d', 'Expired sessions, tokens, codes and sign-ins.'),
  }),

  log: table('The log on standard output.', {
    level: setting(choice('debug', 'info', 'warn', 'error'), 'info', 'The lowest level to log.'),
    format: setting(
      choice('auto', 'text', 'json'),
      'auto',
      'auto logs text on a terminal and JSON elsewhere.',
    ),
  }),

  backup: table('Scheduled backups.', {
    enabled: setting(toggle, false, 'Whether to make scheduled backups.'),
    everyMs: setting(duration('1m', '30d'), '24h', 'The time between two backups.'),
    keep: setting(integer(1, 1000), 7, 'How many scheduled backups to keep.'),
    directory: unset(path, 'An existing directory for backups. Default: backups in data_dir.'),
    to: unset(
      objectUrl,
      'Object storage for backups, instead of a directory. Set the credentials under [s3].',
    ),
    encryptTo: setting(
      list(ageRecipient, 0, 20),
      [],
      'Public keys of age to encrypt new backups to. gatehouse backup keygen makes one. ' +
        'Without any, backups in object storage leave out the master key.',
    ),
  }),

  replication: table(
    'Copies of the database in object storage, and servers that take over from each other.',
    {
      role: setting(
        choice('single', 'auto'),
        'single',
        'single runs one server. auto makes this server one of several that share the folder in to: ' +
          'one is active, the others take over. Needs [database] external_checkpoint.',
      ),
      to: unset(objectUrl, 'The folder in object storage that the servers share.'),
      server: unset(line(100), 'The name of this server. Default: the name of the host.'),
      ttlMs: setting(
        duration('3s', '5m'),
        '10s',
        'How long a standby waits after the last sign of the active server before it takes over.',
      ),
      keyFile: unset(
        path,
        'A file with a private key of age, the same on all servers. It seals master.key in object ' +
          'storage. gatehouse backup keygen makes one.',
      ),
      passphrase: secret(line(500), 'Seals master.key in object storage, instead of key_file.'),
      litestream: setting(
        line(4096),
        'litestream',
        'The program of Litestream, with role = "auto".',
      ),
      checkLease: setting(
        choice('clock', 'bucket'),
        'clock',
        'How the active server knows, before it acknowledges a write, that no other one has taken ' +
          'over: by its clock, or by a request to the bucket, for machines that can be suspended.',
      ),
      acknowledge: setting(
        choice('local', 'replicated'),
        'local',
        'local acknowledges a write when it is on this disk, replicated when Litestream has it in ' +
          'object storage, too. Needs [database] external_checkpoint.',
      ),
      socket: setting(
        path,
        '/run/litestream/litestream.sock',
        'The control socket of Litestream, with role = "single".',
      ),
      timeoutMs: setting(duration('1s', '5m'), '10s', 'The longest wait for the replica.'),
      onTimeout: setting(
        choice('refuse', 'acknowledge'),
        'refuse',
        'What happens to writes while the replica cannot be reached: refuse answers 503 and starts ' +
          'nothing; acknowledge goes on with this disk alone.',
      ),
    },
  ),

  s3: table(
    'Object storage: Amazon S3, Cloudflare R2, MinIO, Garage or another S3-compatible one.',
    {
      endpoint: unset(baseUrl, 'URL of the storage. Default: Amazon S3 in the region.'),
      region: setting(line(100), 'us-east-1', 'The region of the bucket. For Cloudflare R2, auto.'),
      accessKeyId: unset(line(500), 'The id of the access key.'),
      secretAccessKey: secret(line(500), 'The secret of the access key.'),
    },
  ),

  updates: table('A check for new versions, once a day. Off without a feed.', {
    feed: unset(
      endpoint,
      'URL of the latest release, as JSON with a tag_name such as v1.2.3. Nothing about the installation is sent.',
    ),
  }),

  metrics: table('Prometheus metrics.', {
    enabled: setting(toggle, false, 'Whether GET /metrics answers.'),
  }),
}

/** All settings, frozen; each part of the program receives only its own section. */
export type Config = ValuesOf<typeof settings>
