import { jump } from './clock.ts'
import type { ScenarioName } from './options.ts'
import type { Pair } from './pair.ts'
import type { Cut } from './proxy.ts'
import type { Server } from './server.ts'

/** How long a server is paused or cut off. */
const PAUSE_MS = 30_000
const CUT_MS = 30_000
/** How long a server that was paused can't learn that another one has taken over. */
const AWAKE_MS = 5000
/** Time with a wrong clock before anything else happens. */
const WRONG_CLOCK_MS = 10_000
const CLOCK_OFFSET_S = 600

export interface Scene {
  pair: Pair
  active: Server
  standby: Server
  generation: number
  /** From 0. */
  round: number
  /** Makes the executable of the next version. */
  nextVersion: () => Promise<string>
}

export interface Scenario {
  /** Whether another server is to be active afterwards; undefined if either is right. */
  takesOver: boolean | undefined
  /** What is needed before clients begin. */
  prepare?: (scene: Scene) => Promise<void>
  /** What happens while clients work. */
  run: (scene: Scene) => Promise<void>
  /** Makes a pair of what is left. */
  repair?: (scene: Scene) => Promise<void>
}

const restart = async ({ active }: Scene) => active.start({ isStandby: true })

async function pause({ active, pair, generation }: Scene) {
  active.pause()
  await Bun.sleep(PAUSE_MS)
  active.resume()
  await pair.takenOver(generation)
}

/** What is under way arrives late in every other round. */
const cutModeOf = ({ round }: Scene): Cut => (round % 2 === 0 ? 'late' : 'reset')

async function cut(scene: Scene, servers: readonly Server[]) {
  for (const { proxy } of servers) proxy.cut()
  await Bun.sleep(CUT_MS)
  for (const { proxy } of servers) proxy.restore(cutModeOf(scene))
  await scene.pair.serving()
}

export const scenarios: Record<ScenarioName, Scenario> = {
  kill: {
    takesOver: true,
    async run({ active, pair, generation }) {
      await active.kill()
      active.wipe()
      await pair.takenOver(generation)
    },
    repair: restart,
  },
  pause: { takesOver: true, run: pause },
  'pause-cut': {
    takesOver: true,
    async run(scene) {
      const { active, pair, generation } = scene
      active.pause()
      await Bun.sleep(PAUSE_MS)
      active.proxy.cut()
      active.resume()
      await Bun.sleep(AWAKE_MS)
      active.proxy.restore(cutModeOf(scene))
      await pair.takenOver(generation)
    },
  },
  'cut-active': { takesOver: true, run: (scene) => cut(scene, [scene.active]) },
  'cut-standby': { takesOver: false, run: (scene) => cut(scene, [scene.standby]) },
  'cut-both': { takesOver: undefined, run: (scene) => cut(scene, scene.pair.servers) },
  clock: {
    takesOver: true,
    async run(scene) {
      jump(scene.active, scene.round % 2 === 0 ? CLOCK_OFFSET_S : -CLOCK_OFFSET_S)
      await Bun.sleep(WRONG_CLOCK_MS)
      await pause(scene)
    },
    repair: async ({ active }) => jump(active, 0),
  },
  stop: {
    takesOver: true,
    async run({ active, pair, generation }) {
      await active.stop()
      await pair.takenOver(generation)
    },
    repair: restart,
  },
  'step-down': { takesOver: true, run: stepDown },
  upgrade: {
    takesOver: true,
    async prepare({ standby, pair, nextVersion }) {
      standby.use(await nextVersion())
      await standby.stop()
      standby.start({ isStandby: true })
      await pair.ready()
    },
    run: stepDown,
    async repair({ active, nextVersion }) {
      await active.stop()
      active.use(await nextVersion())
      active.start({ isStandby: true })
    },
  },
}

async function stepDown({ active, pair, generation }: Scene) {
  await active.command('replication', 'step-down')
  await pair.takenOver(generation)
}
