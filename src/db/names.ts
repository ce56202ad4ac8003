/** The names of the files in a data directory, as operators know them. */
export const DATA_NAMES = { database: 'gatehouse.db', key: 'master.key' } as const
