import type { Clock } from '../../platform/clock.ts'
import { unavailable } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { changesTo } from './changes.ts'
import { tellOutdated } from './outdated.ts'
import { type Look, type State, stateOf } from './part.ts'
import { displacedBy, type Holder } from './room.ts'
import { createStream, STREAM_HEADERS, type Stream } from './stream.ts'

/** Between two looks into the database. */
const LOOK_MS = 1000
/** Who takes nothing in for as long is gone, or as good as that. */
const MOST_BEHIND_MS = 60_000
/** Well before the runtime, or a proxy, cuts a connection on which nothing happens. */
const BEAT_MS = 10_000
/** States from which a page may go on row by row; from older ones it gets everything anew. */
const STATES_KEPT = 20

/** A subject that several may look at: read once for all of them. */
interface Topic {
  look: Look
  states: State[]
  viewers: Set<Viewer>
}

interface Viewer extends Holder {
  /** Of the topic. */
  name: string
  stream: Stream
  /** Whether they may still look; asked at each turn. */
  mayLook: () => boolean
  /** Of the state that their page shows. */
  shownId: string
  /** When something was last written that they had room for. */
  lastAt: number
}

export interface Wanted extends Holder {
  /** Whatever is read for one of the same name is shown to all who look at it. */
  name: string
  look: Look
  mayLook: () => boolean
  /** Of the state that the page shows, as it or the stream before has told. */
  shownId: string
}

export type Live = ReturnType<typeof createLive>

/**
 * Pages that change while somebody looks at them. While there is anybody, what they look at is read
 * once a second, once for all who see the same; nothing is read otherwise. Each state has a name, and
 * a page that comes again with the name of what it shows gets all that is different by now: nothing
 * is lost to a tab in the background, a connection that broke, or another process that serves it.
 */
export function createLive({ clock, log }: { clock: Clock; log: Log }) {
  const topics = new Map<string, Topic>()
  let cancelTurn: (() => void) | undefined
  let isStopped = false

  const viewers = (): Viewer[] => [...topics.values()].flatMap((topic) => [...topic.viewers])

  /** Throws where there are too many already. May end a stream of a tenant that has more of them. */
  function open({ look, ...of }: Wanted): Response {
    if (isStopped) throw unavailable('the server is going down')
    const { name } = of
    const displaced = displacedBy(of, viewers())
    const topic = topics.get(name) ?? { look, states: [], viewers: new Set() }
    topic.look = look
    refresh(topic)
    // Its page connects again, and at longer and longer intervals while it is refused.
    if (displaced) close(displaced)
    const stream = createStream({ onClose: () => leave(viewer) })
    const viewer: Viewer = { ...of, stream, lastAt: clock.monotonic() }
    topics.set(name, topic)
    topic.viewers.add(viewer)
    // Something at once, so that the browser knows that it is connected.
    stream.beat()
    show(topic, viewer)
    cancelTurn ??= clock.after(LOOK_MS, turn)
    return new Response(stream.body, { headers: STREAM_HEADERS })
  }

  function turn() {
    cancelTurn = undefined
    for (const topic of topics.values()) {
      try {
        sendAway(topic)
        if (topic.viewers.size === 0) continue
        refresh(topic)
        for (const viewer of topic.viewers) show(topic, viewer)
      } catch (error) {
        // Storage that cannot be read now may be read a second later.
        log.warn('live page update failed', { error: String(error) })
      }
    }
    if (topics.size > 0) cancelTurn ??= clock.after(LOOK_MS, turn)
  }

  function sendAway(topic: Topic) {
    for (const viewer of topic.viewers) {
      const isBehind = clock.monotonic() - viewer.lastAt > MOST_BEHIND_MS
      if (!isBehind && viewer.mayLook()) continue
      // One that is behind may come again.
      if (!isBehind) tellOutdated(viewer.stream)
      close(viewer)
    }
  }

  function refresh(topic: Topic) {
    const before = topic.states.at(-1)
    const state = stateOf(topic.look(), before)
    if (state.id === before?.id) return
    topic.states = [...topic.states.slice(1 - STATES_KEPT), state]
  }

  function show({ states }: Topic, viewer: Viewer) {
    const state = states.at(-1)
    const now = clock.monotonic()
    if (state && state.id !== viewer.shownId) {
      const shown = states.find(({ id }) => id === viewer.shownId)
      if (!viewer.stream.send(state.id, changesTo(state, shown))) return
      viewer.shownId = state.id
      viewer.lastAt = now
    } else if (now - viewer.lastAt >= BEAT_MS && viewer.stream.beat()) viewer.lastAt = now
  }

  function close(viewer: Viewer) {
    viewer.stream.close()
    leave(viewer)
  }

  function leave(viewer: Viewer) {
    const { name } = viewer
    const topic = topics.get(name)
    topic?.viewers.delete(viewer)
    if (topic?.viewers.size !== 0) return
    topics.delete(name)
    if (topics.size > 0) return
    cancelTurn?.()
    cancelTurn = undefined
  }

  /** Ends all streams at once: the pages come again, to whoever serves them then. */
  function end() {
    cancelTurn?.()
    cancelTurn = undefined
    for (const { stream } of viewers()) stream.close()
    topics.clear()
  }

  function stop() {
    isStopped = true
    end()
  }

  return { open, end, stop, count: () => viewers().length }
}
