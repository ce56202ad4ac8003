import type { Config } from '../../config/index.ts'
import type { Keys } from '../../failover/turn.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { conflict, unavailable } from '../../platform/errors.ts'
import { canSeal, createSealedKey, keyIdIn } from '../../platform/replication/sealed-key.ts'
import { program } from '../../supervisor/worker-process.ts'
import type { Command, Configured } from '../command.ts'
import { flagsAmong } from '../load.ts'
import { sharedFolderOf } from './shared.ts'

export const replicationStoreKey: Command = {
  name: 'replication store-key',
  summary: 'Store master.key, sealed, for the other servers. The active server does so by itself.',
  run: async ({ config }) => {
    const key = sealedKeyOf(config)
    const keyId = keyIdIn(config.dataDir)
    if (keyId === undefined) throw conflict(`there is no master.key in ${config.dataDir}`)
    await key.store(keyId)
    return { json: { key_id: keyId }, text: `Stored master.key (${keyId}).` }
  },
}

export const replicationFetchKey: Command = {
  name: 'replication fetch-key',
  summary: 'Get master.key of the active server. A standby does so by itself.',
  run: async ({ config }) => {
    const keyId = (await sharedFolderOf(config).leases.read())?.lease.keyId
    if (keyId === undefined) throw conflict('the active server has not stored master.key yet')
    if (keyIdIn(config.dataDir) !== keyId) await sealedKeyOf(config).fetch(keyId)
    return { json: { key_id: keyId }, text: `master.key (${keyId}) is in ${config.dataDir}.` }
  },
}

function sealedKeyOf(config: Config) {
  if (!canSeal(config.replication))
    throw conflict('nothing seals master.key. Set [replication] key_file or passphrase')
  const { dataDir, replication: secret } = config
  return createSealedKey({ ...sharedFolderOf(config), dataDir, secret })
}

/** No request of a command takes so long. */
const CHILD_MS = MINUTE_MS

/**
 * The same for a server that serves, in a process of its own: deriving a key from a passphrase takes a
 * second and 256 MB.
 */
export function keysOf({ config, options, io }: Configured): Keys {
  const flags = Object.entries(flagsAmong(options)).flatMap(([name, value]) => [`--${name}`, value])

  async function run(verb: string) {
    const command = [...program, 'replication', verb, ...flags]
    const child = Bun.spawn(command, {
      ...{ cwd: io.cwd, env: io.env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
      ...{ timeout: CHILD_MS, killSignal: 'SIGKILL' },
    })
    const said = await new Response(child.stderr).text()
    if ((await child.exited) !== 0)
      throw unavailable(said.trim().split('\n').at(-1) || `replication ${verb} did not end`)
  }

  return {
    canSeal: canSeal(config.replication),
    store: () => run('store-key'),
    fetch: () => run('fetch-key'),
  }
}
