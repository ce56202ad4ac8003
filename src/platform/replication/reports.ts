import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
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

/** Reads and writes the reports of the standbys below `to`. */
export function createReports({ storage, to }: { storage: ObjectStorage; to: string }) {
  const folder = objectUrlIn(to, 'servers')
  const urlOf = (id: string) => objectUrlIn(folder, `${id}.json`)

  /** Those that are readable, by name. */
  async function list(): Promise<Report[]> {
    const objects = await storage.list(folder)
    const texts = await Promise.all(objects.map(({ url }) => storage.readText(url)))
    return texts.flatMap(readable).toSorted((a, b) => a.name.localeCompare(b.name))
  }

  const write = (report: Report) => storage.write(urlOf(report.id), JSON.stringify(report))

  return { list, write, remove: (id: string) => storage.remove(urlOf(id)) }
}

function readable(found: { text: string } | undefined): Report[] {
  try {
    return found ? [Value.Parse(ReportSchema, JSON.parse(found.text))] : []
  } catch {
    return []
  }
}
