import { type LoadInput, type LoadResult, loadConfig, settingFlags } from '../config/index.ts'
import { messageOf } from '../db/errors.ts'
import { parseAllowList } from '../platform/outbound/index.ts'
import type { Invocation } from './command.ts'

/** The options that are settings, and the one that names the configuration file. */
export function flagsAmong(options: Invocation['options']): Record<string, string> {
  const names = ['config', ...settingFlags.map(({ name }) => name)]
  return Object.fromEntries(
    names.flatMap((name) => (typeof options[name] === 'string' ? [[name, options[name]]] : [])),
  )
}

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
