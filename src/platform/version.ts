import manifest from '../../package.json' with { type: 'json' }

/** Semantic version of this executable. */
export const VERSION = manifest.version

declare const GATEHOUSE_COMMIT: string | undefined

/** The commit it was compiled from; `source` when run from a checkout. */
export const COMMIT = typeof GATEHOUSE_COMMIT === 'string' ? GATEHOUSE_COMMIT : 'source'

/** In a compiled executable the sources live in a virtual folder. */
export const isCompiled = import.meta.path.startsWith('/$bunfs/')
