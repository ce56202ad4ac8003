import { statSync } from 'node:fs'
import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import { masterKeyFile, readMasterKey } from '../../platform/sealing/key-file.ts'
import { knownMasterKeys } from '../../platform/sealing/key-store.ts'
import { misfit } from '../../platform/sealing/open-key-ring.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { modeForOthers } from './permissions.ts'

/** Checks the master key and its mode, without changing either. */
export function masterKey({ dataDir }: Pick<Config, 'dataDir'>, db?: Db): Finding[] {
  const check = 'master key'
  const key = readMasterKey(dataDir)
  const objection = misfit({ dataDir, key, known: db ? knownMasterKeys(db) : [] })
  if (objection) return [problem(check, objection)]
  if (!key) return [ok(check, 'none yet; the next start creates it')]
  const file = masterKeyFile(dataDir)
  const mode = modeForOthers(statSync(file).mode)
  return [
    mode === undefined
      ? ok(check, `${file}, id ${key.id}`)
      : warning(check, `other accounts can read ${file} (mode ${mode}): run chmod 600 ${file}`),
  ]
}
