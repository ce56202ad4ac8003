import { randomUUIDv7 } from 'bun'

/** A UUIDv7: unique, and sorted by creation within this process. */
export const newId = (): string => randomUUIDv7()
