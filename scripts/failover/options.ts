import { parseArgs } from 'node:util'

export const SCENARIOS = [
  'kill',
  'pause',
  'pause-cut',
  'cut-active',
  'cut-standby',
  'cut-both',
  'clock',
  'stop',
  'step-down',
  'upgrade',
] as const

export type ScenarioName = (typeof SCENARIOS)[number]

export const HELP = `Checks that one of two servers takes over from the other, with real components on this machine.

  bun run failover kill --rounds 20
  bun run failover pause cut-active cut-standby cut-both --acknowledge local

Scenarios:
  kill          kill the active server and its Litestream, and delete its data directory
  pause         stop all processes of the active server for 30 s (SIGSTOP), and continue them
  pause-cut     the same, and cut it off for 5 s when it continues
  cut-active    cut the active server off the bucket
  cut-standby   cut the standby off the bucket
  cut-both      cut both off
  clock         set the clock of the active server 10 minutes forward or back, and pause it
  stop          stop the active server in order (SIGTERM)
  step-down     gatehouse replication step-down
  upgrade       step down to a version with one more migration

Options:
  --rounds N            rounds of each scenario (1)
  --acknowledge HOW     replicated (default) or local
  --latency MS          added to each answer of the bucket (20)
  --ttl TIME            lifetime of the lease (10s)
  --size MB             size of the database at the start (0)
  --clients N           clients (64)
  --rate N              operations a second, of all clients together (400)
  --processes N         processes of each server (the default of the setting)
  --check-lease HOW     clock (default) or bucket
  --within SECONDS      the longest time that a takeover from a killed server may take (15)
  --executable FILE     Gatehouse (dist/gatehouse, from bun run build)
  --keep                keep the folder with data and logs
  --verbose             print what the servers log as errors and warnings

Needs litestream and versitygw on the PATH:
  go install -ldflags "-s -w" github.com/benbjohnson/litestream/cmd/litestream@v0.5.18
  go install -ldflags "-s -w" github.com/versity/versitygw/cmd/versitygw@v1.8.0
`

export type Options = NonNullable<ReturnType<typeof readOptions>>

/** The command line. Undefined if it asks for help, or can't be understood. */
export function readOptions(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '1' },
      acknowledge: { type: 'string', default: 'replicated' },
      latency: { type: 'string', default: '20' },
      ttl: { type: 'string', default: '10s' },
      size: { type: 'string', default: '0' },
      clients: { type: 'string', default: '64' },
      rate: { type: 'string', default: '400' },
      processes: { type: 'string' },
      'check-lease': { type: 'string', default: 'clock' },
      within: { type: 'string', default: '15' },
      executable: { type: 'string', default: 'dist/gatehouse' },
      keep: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const scenarios = positionals.filter(isScenario)
  if (values.help || scenarios.length === 0 || scenarios.length < positionals.length)
    return undefined
  return {
    scenarios,
    rounds: Number(values.rounds),
    acknowledge: values.acknowledge,
    latencyMs: Number(values.latency),
    ttl: values.ttl,
    ttlMs: Number.parseFloat(values.ttl) * 1000,
    sizeMb: Number(values.size),
    clients: Number(values.clients),
    rate: Number(values.rate),
    processes: values.processes,
    checkLease: values['check-lease'],
    withinMs: Number(values.within) * 1000,
    executable: values.executable,
    keep: values.keep,
    verbose: values.verbose,
  }
}

const isScenario = (name: string): name is ScenarioName =>
  (SCENARIOS as readonly string[]).includes(name)
