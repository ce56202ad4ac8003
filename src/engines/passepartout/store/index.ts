import type { Db } from '../../../db/open.ts'
import { createAttemptStore } from './attempts.ts'
import { createBotStore } from './bots.ts'
import { createPersonStore } from './people.ts'
import { createPromptStore } from './prompts.ts'
import { createReadModel } from './read-model.ts'
import { createTokenStore } from './tokens.ts'
import { createUpdateStore } from './updates.ts'

export type Store = ReturnType<typeof createStore>

/** The only part of the engine that contains SQL. */
export const createStore = (db: Db) => ({
  bots: createBotStore(db),
  updates: createUpdateStore(db),
  attempts: createAttemptStore(db),
  prompts: createPromptStore(db),
  people: createPersonStore(db),
  tokens: createTokenStore(db),
  readModel: createReadModel(db),
})
