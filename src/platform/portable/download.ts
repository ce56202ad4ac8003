import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import { type Clock, stampOf } from '../clock.ts'
import { MINUTE_MS } from '../durations.ts'
import { conflict } from '../errors.ts'
import type { Sealing } from '../sealing/index.ts'
import { exportLines } from './export.ts'
import { createImportStore } from './imports-store.ts'
import { openSnapshot } from './snapshot.ts'
import type { PortableTable } from './table.ts'

/** An open snapshot keeps the write-ahead log growing, so a download that stalls is cut off. */
const MAX_DURATION_MS = 10 * MINUTE_MS
const CHUNK_LENGTH = 65_536

export type TenantDownload = ReturnType<typeof createTenantDownload>

/** Downloads of tenants, in the format of `exportLines`. A process makes one at a time. */
export function createTenantDownload(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  tables: readonly PortableTable[]
  schema: string
  keyPrefix: string
}) {
  const { db, clock, audit, sealing, tables, schema, keyPrefix } = parts
  const imports = createImportStore(db)
  let isRunning = false

  /** Streams a tenant as fast as the client reads. Throws `conflict` while another export runs. */
  async function start(actor: Actor, tenantId: string): Promise<Response> {
    imports.refuseUnfinished(tenantId)
    if (isRunning) throw conflict('another export is running. Try again when it is done')
    isRunning = true
    try {
      const entry = { action: 'tenant.exported', object: `tenant:${tenantId}` }
      await db.commit(() => audit.record({ tenantId, actor, ...entry }))
      return fileOf(tenantId)
    } catch (error) {
      isRunning = false
      throw error
    }
  }

  function fileOf(tenantId: string): Response {
    const name = `gatehouse-${tenantId}-${stampOf(clock.now())}.ndjson`
    return new Response(streamOf(tenantId), {
      headers: {
        'content-type': 'application/x-ndjson; charset=utf-8',
        'content-disposition': `attachment; filename="${name}"`,
      },
    })
  }

  /** Without its last line, a file that was cut off is refused by an import. */
  function streamOf(tenantId: string): ReadableStream<Uint8Array> {
    const snapshot = openSnapshot(db)
    const lines = exportLines({
      snapshot,
      sealing,
      tables,
      tenantId,
      now: clock.now(),
      schema,
      keyPrefix,
    })
    const encoder = new TextEncoder()
    let isOver = false
    let cut = () => {}

    function end() {
      if (isOver) return
      isOver = true
      isRunning = false
      cancelCut()
      lines.return({ counts: {}, leftOut: {}, lines: 0 })
      snapshot[Symbol.dispose]()
    }

    function chunk(): string {
      let text = ''
      while (text.length < CHUNK_LENGTH) {
        const next = lines.next()
        if (next.done) break
        text += next.value
      }
      return text
    }

    const cancelCut = clock.after(MAX_DURATION_MS, () => cut())
    return new ReadableStream({
      start(controller) {
        cut = () => {
          end()
          controller.error(new Error('the export took too long'))
        }
      },
      pull(controller) {
        try {
          const text = chunk()
          if (text !== '') return controller.enqueue(encoder.encode(text))
          end()
          controller.close()
        } catch (error) {
          end()
          throw error
        }
      },
      cancel: end,
    })
  }

  return { start }
}
