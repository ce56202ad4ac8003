import { type LoadInput, type LoadResult, loadConfig } from '../config/index.ts'
import { messageOf } from '../db/errors.ts'
import { parseAllowList } from '../platform/outbound/index.ts'

/** Loads the configuration and also checks what only the modules that use it can check. */
export function loadChecked(input: LoadInput): LoadResult {
  const loaded = loadConfig(input)
  if (!loaded.ok) return loaded
  const message = refusal(() => parseAllowList([...loaded.config.outbound.allow]))
  if (message === undefined) return loaded
  const key = 'outbound.allow'
  const at = loaded.origin.get(key)?.at ?? ''
  const { file, warnings } = loaded
  return {
    ok: false,
    errors: [{ at, key, message: `[outbound] allow: ${message}` }],
    file,
    warnings,
  }
}

function refusal(check: () => void): string | undefined {
  try {
    check()
  } catch (error) {
    return messageOf(error)
  }
}
