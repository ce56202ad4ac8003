import type { Db } from '../../../db/open.ts'
import { createLineStore } from './line.ts'
import { createMailStore } from './mails.ts'
import { createShelfStore } from './shelf.ts'

export type Store = ReturnType<typeof createStore>

/** The only place that knows the table of mails. */
export const createStore = (db: Db) => ({
  mails: createMailStore(db),
  line: createLineStore(db),
  shelf: createShelfStore(db),
})
