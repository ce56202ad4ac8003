import { fragmentText } from '../../../views/html.ts'
import { OUTDATED_SLOT, OutdatedNotice, STREAM_END } from '../../../views/layout/live.tsx'
import type { Clock } from '../../platform/clock.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { AppError, unavailable } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { changesTo, partial } from './changes.ts'
import { type Render, type State, stateOf } from './part.ts'
import { createStream, displacedBy, type Holder, STREAM_HEADERS, type Stream } from './stream.ts'

/** Interval of polling the database. */
const POLL_MS = 1000
/** A client that reads nothing for this long is disconnected. */
const MAX_LAG_MS = MINUTE_MS
/** Interval of keep-alive comments, well below the idle timeouts of the runtime and of proxies. */
const KEEP_ALIVE_MS = 10_000
/** Kept states, from which a page gets single rows; from older ones it gets whole parts. */
const STATES_KEPT = 20

/** Content of a page, read once for all its viewers. */
interface Topic {
  render: Render
  states: State[]
  viewers: Set<Viewer>
}

interface Viewer extends Holder {
  /** Name of the topic. */
  name: string
  stream: Stream
  /** Whether the viewer still has access; checked at every poll. */
  mayRead: () => boolean
  /** ID of the state that the page shows. */
  shownId: string
  /** When the client last accepted data. */
  lastAt: number
}

export interface Subscription extends Holder {
  /** Viewers with the same name share what is read. */
  name: string
  render: Render
  mayRead: () => boolean
  /** ID of the state that the page shows, from the page or from its last event. */
  shownId: string
}

export type Live = ReturnType<typeof createLive>

/**
 * Live updates of pages. Polls once a second for all viewers of the same content. A page that
 * reconnects with its state's ID gets all changes since, even from another process.
 */
export function createLive({ clock, log }: { clock: Clock; log: Log }) {
  const topics = new Map<string, Topic>()
  let cancelTurn: (() => void) | undefined
  let isStopped = false

  const viewers = (): Viewer[] => [...topics.values()].flatMap((topic) => [...topic.viewers])

  /** Throws if too many streams are open. Can close a stream of the tenant that has most of them. */
  function open({ render, ...of }: Subscription): Response {
    if (isStopped) throw unavailable('the server is shutting down')
    const { name } = of
    const displaced = displacedBy(of, viewers())
    const topic = topics.get(name) ?? { render, states: [], viewers: new Set() }
    topic.render = render
    refresh(topic)
    // Its page reconnects, with growing intervals while it is refused.
    if (displaced) close(displaced)
    const stream = createStream({ onClose: () => leave(viewer) })
    const viewer: Viewer = { ...of, stream, lastAt: clock.monotonic() }
    topics.set(name, topic)
    topic.viewers.add(viewer)
    // Sent immediately, which tells the browser that it is connected.
    stream.keepAlive()
    show(topic, viewer)
    cancelTurn ??= clock.after(POLL_MS, turn)
    return new Response(stream.body, { headers: STREAM_HEADERS })
  }

  function turn() {
    cancelTurn = undefined
    for (const topic of topics.values()) {
      try {
        removeStale(topic)
        if (topic.viewers.size === 0) continue
        refresh(topic)
        for (const viewer of topic.viewers) show(topic, viewer)
      } catch (error) {
        if (error instanceof AppError && error.kind === 'not_found') endTopic(topic)
        // A failed read is repeated a second later.
        else log.warn('live page update failed', { error: String(error) })
      }
    }
    if (topics.size > 0) cancelTurn ??= clock.after(POLL_MS, turn)
  }

  /** What the page shows was deleted. */
  function endTopic({ viewers }: Topic) {
    for (const viewer of viewers) {
      sendOutdated(viewer.stream)
      close(viewer)
    }
  }

  function removeStale(topic: Topic) {
    for (const viewer of topic.viewers) {
      const isBehind = clock.monotonic() - viewer.lastAt > MAX_LAG_MS
      if (!isBehind && viewer.mayRead()) continue
      // A client that is too slow may reconnect.
      if (!isBehind) sendOutdated(viewer.stream)
      close(viewer)
    }
  }

  function refresh(topic: Topic) {
    const before = topic.states.at(-1)
    const state = stateOf(topic.render(), before)
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
    } else if (now - viewer.lastAt >= KEEP_ALIVE_MS && viewer.stream.keepAlive())
      viewer.lastAt = now
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

  /** Ends all streams immediately; the pages reconnect to a process that still serves. */
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

/** Shows the notice in an open page and tells the browser not to reconnect. */
function sendOutdated(stream: Stream) {
  stream.send('', partial(OUTDATED_SLOT, 'innerHTML', fragmentText(OutdatedNotice())))
  stream.sendEvent(STREAM_END)
}
