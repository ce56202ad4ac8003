/** What a data directory holds, by the names that operators know. */
export const DATA_NAMES = { database: 'gatehouse.db', key: 'master.key' } as const
