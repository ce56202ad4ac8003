import manifest from '../../package.json' with { type: 'json' }

/** The semantic version of this executable. */
export const VERSION = manifest.version

declare const GATEHOUSE_COMMIT: string | undefined

/** The commit that the executable was built from; `source` in a checkout. */
export const COMMIT = typeof GATEHOUSE_COMMIT === 'string' ? GATEHOUSE_COMMIT : 'source'

/** Whether this is a compiled executable, whose sources are in a virtual folder. */
export const isCompiled = import.meta.path.startsWith('/$bunfs/')
