import { randomUUIDv7 } from 'bun'

/** A UUIDv7: unique, and in the order of creation within this process. */
export const newId = (): string => randomUUIDv7()
