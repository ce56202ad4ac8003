import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { systemClock } from '../clock.ts'
import { DAY_MS } from '../durations.ts'
import { type ObjectStorage, objectUrlIn } from '../object-storage/index.ts'

/** What a standby says of itself, an object in the folder that the servers share. */
const ReportSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  version: Type.String(),
  /** Whether it can take over. */
  isReady: Type.Boolean(),
  /** Why it can't. */
  reason: Type.Optional(Type.String()),
  /** For how long its copy has lacked something that the active server has uploaded. */
  lagMs: Type.Integer({ minimum: 0 }),
  /** Folders with databases that it had when it was active, and that may have more than the others. */
  setAside: Type.Array(Type.String()),
  /** By its clock. */
  reportedAt: Type.Integer({ minimum: 0 }),
})

export type Report = Static<typeof ReportSchema>

/** A server that has reported nothing for so long counts as gone, until it reports again. */
const GONE_MS = 7 * DAY_MS

/** Reads and writes the reports of the standbys below `to`. */
export function createReports({ storage, to }: { storage: ObjectStorage; to: string }) {
  const folder = objectUrlIn(to, 'servers')
  const urlOf = (id: string) => objectUrlIn(folder, `${id}.json`)

  /** The newest of each name, because a server that lost its disk has another id, by name. */
  async function list(): Promise<Report[]> {
    const now = systemClock.now()
    const all = await storage.list(folder)
    const recent = all.filter(({ modifiedAt }) => now - modifiedAt < GONE_MS)
    const texts = await Promise.all(recent.map(({ url }) => storage.readText(url)))
    const reports = texts.flatMap(readable).toSorted((a, b) => a.reportedAt - b.reportedAt)
    const newest = new Map(reports.map((report) => [report.name, report]))
    return [...newest.values()].toSorted((a, b) => a.name.localeCompare(b.name))
  }

  const write = (report: Report) => storage.write(urlOf(report.id), JSON.stringify(report))

  return { list, write }
}

function readable(found: { text: string } | undefined): Report[] {
  try {
    return found ? [Value.Parse(ReportSchema, JSON.parse(found.text))] : []
  } catch {
    return []
  }
}
