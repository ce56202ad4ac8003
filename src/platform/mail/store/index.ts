import type { Db } from '../../../db/open.ts'
import { createMailStore } from './mails.ts'
import { createOutboxQueries } from './outbox-queries.ts'
import { createQueueStore } from './queue.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL on the table of mails. */
export const createStore = (db: Db) => ({
  mails: createMailStore(db),
  queue: createQueueStore(db),
  outbox: createOutboxQueries(db),
})
