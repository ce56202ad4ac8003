import type { Db } from '../db/open.ts'

/** Cleared once per event loop turn if another process committed; own changes need `forget`. */
export function createReadCache<T>(db: Db, limit: number) {
  const entries = new Map<string, T>()
  let version = db.version()
  let isChecked = false
  db.onDropCaches(() => entries.clear())

  function get(name: string): T | undefined {
    if (!isChecked) forgetIfOutOfDate()
    return entries.get(name)
  }

  function forgetIfOutOfDate() {
    const current = db.version()
    if (current !== version) entries.clear()
    version = current
    isChecked = true
    setImmediate(() => {
      isChecked = false
    })
  }

  function set(name: string, value: T): T {
    if (entries.size >= limit) entries.clear()
    entries.set(name, value)
    return value
  }

  return { get, set, forget: () => entries.clear() }
}
