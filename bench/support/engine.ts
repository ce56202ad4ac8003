import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/index.ts'
import { type KeyCaller, keyActor } from '../../src/platform/caller.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createOutbound } from '../../src/platform/outbound/index.ts'
import { createPlatform } from '../../src/platform/platform.ts'
import { createSealing } from '../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../src/platform/sealing/open-key-ring.ts'
import { FLAGS, type Installation, openInstallationDatabase } from './installation.ts'

export type Engine = Awaited<ReturnType<typeof openEngine>>

/** The whole program on an installation, in this process and without a port; paused, nothing runs by itself. */
export async function openEngine(
  stack: AsyncDisposableStack,
  { dataDir }: Pick<Installation, 'dataDir'>,
  { isPaused = false } = {},
) {
  const loaded = loadConfig({ flags: FLAGS, env: {}, cwd: dataDir, readFile: nothing })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  const { config } = loaded
  const db = openInstallationDatabase(dataDir)
  const platform = createPlatform({
    db,
    clock: systemClock,
    log: createLog({ level: 'error', format: 'json', now: Date.now, write: console.error }),
    outbound: createOutbound({ clock: systemClock, ...config.outbound, allow: [] }),
    sealing: createSealing(await openKeyRing({ db, clock: systemClock, dataDir })),
    keyPrefix: config.brand.prefix,
    metering: config.metering,
    process: { version: 'bench', host: 'bench', pid: process.pid, isRunning: () => true },
  })
  const gatehouse = createApp(platform, config)
  await gatehouse.start({ isPaused })
  stack.defer(async () => {
    await gatehouse.stop(0)
    await platform.metering.stop(0)
    db.close()
  })
  /** Who is behind a key, as in a request. */
  function callerOf(key: string): KeyCaller {
    const holder = platform.keys.verify(key)
    if (!holder) throw new Error('the key of a resident is not good')
    const [engine = 'gate'] = holder.engines
    return { ...holder, engine, actor: keyActor(holder), charge: platform.metering.newCharge() }
  }

  return { db, callerOf, ...gatehouse }
}

function nothing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
