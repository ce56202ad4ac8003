import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Db } from '../db/open.ts'
import type { Alerts, NewAlert } from './alerts/index.ts'
import type { Clock } from './clock.ts'
import { DAY_MS, MINUTE_MS } from './durations.ts'
import type { Log } from './log.ts'
import type { Outbound } from './outbound/index.ts'

/** Late enough that a process that is restarted again and again doesn't ask each time. */
const FIRST_MS = 10 * MINUTE_MS
/** The notes of a release are part of the response. */
const MAX_RESPONSE_BYTES = 1024 ** 2
const MAX_OPEN = 100

/** A release as GitHub describes it: https://docs.github.com/rest/releases/releases#get-the-latest-release */
const Release = Type.Object({ tag_name: Type.String() })

/**
 * Asks once a day for the latest release, and opens an alert while it is newer than `version`. Never asks
 * without a feed. The request says nothing about the installation, and the response is not trusted.
 */
export function createUpdateCheck(parts: {
  db: Db
  clock: Clock
  log: Log
  outbound: Outbound
  alerts: Alerts
  /** The URL of the latest release. */
  feed: string | undefined
  /** The version that runs. */
  version: string
}) {
  const { db, clock, log, outbound, alerts, feed, version } = parts
  const abort = new AbortController()
  let cancel = () => {}

  async function check() {
    const latest = feed === undefined ? version : await latestAt(feed)
    if (latest === undefined) return
    const open = alerts.page(null, 'open', { limit: MAX_OPEN }).filter(isAboutVersion)
    const isNew = isNewer(latest, version)
    const outdated = open.filter(({ name }) => !isNew || name !== latest)
    if (!isNew && outdated.length === 0) return
    await db.commit(() => {
      for (const { subject } of outdated) alerts.close(null, subject)
      if (isNew) alerts.openOnce(alertOf(latest, version))
    })
  }

  /** Undefined if it can't be read, which is logged. */
  async function latestAt(url: string): Promise<string | undefined> {
    const answer = await outbound.send({
      url,
      method: 'GET',
      headers: { 'user-agent': 'gatehouse', accept: 'application/json' },
      body: null,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      signal: abort.signal,
    })
    const latest =
      answer.replied && answer.status === 200
        ? versionIn(new TextDecoder().decode(answer.body))
        : undefined
    const reason = answer.replied ? `status ${answer.status}` : answer.message
    if (latest === undefined) log.warn('no version in the answer of [updates] feed', { reason })
    return latest
  }

  function start() {
    if (feed !== undefined || alerts.page(null, 'open', { limit: MAX_OPEN }).some(isAboutVersion))
      checkAfter(FIRST_MS)
  }

  function checkAfter(ms: number) {
    cancel = clock.after(ms, () => {
      // The next check may succeed.
      check().catch((error) => log.error('updates could not be checked', { error: String(error) }))
      checkAfter(DAY_MS)
    })
  }

  function stop() {
    cancel()
    abort.abort()
  }

  return { start, stop, check }
}

const isAboutVersion = ({ kind }: { kind: string }) => kind === 'version.new'

/** Of a release such as `v1.2.3`; undefined for anything else, such as a preview. */
function versionIn(body: string): string | undefined {
  const release = parsed(body)
  if (!Value.Check(Release, release)) return undefined
  return /^v?(\d{1,6}\.\d{1,6}\.\d{1,6})$/.exec(release.tag_name)?.[1]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isNewer(one: string, other: string): boolean {
  const [mine = [], theirs = []] = [one, other].map((version) => version.split('.').map(Number))
  const at = mine.findIndex((part, n) => part !== theirs[n])
  return at !== -1 && (mine[at] ?? 0) > (theirs[at] ?? 0)
}

const alertOf = (latest: string, version: string): NewAlert => ({
  tenantId: null,
  kind: 'version.new',
  subject: `version:${latest}`,
  name: latest,
  text: `This installation runs ${version}. Read the changelog before you upgrade.`,
  path: '/health',
})
