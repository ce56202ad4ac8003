import { randomUUIDv7 } from 'bun'

/** A UUIDv7: unique, and in the order of creation within this process. */
export const newId = (): string => randomUUIDv7()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => UUID.test(text)
