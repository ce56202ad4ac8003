import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/open.ts'
import { excludedOf, rowOf } from '../../../../db/placeholders.ts'
import { gateMailTexts as texts } from '../../schema.ts'

export type MailTextRow = typeof texts.$inferSelect

export function createMailTextStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(texts)
    .values(rowOf(texts))
    .onConflictDoUpdate({
      target: [texts.tenantId, texts.mail, texts.language],
      set: excludedOf(texts, 'tenantId', 'mail', 'language'),
    })
    .prepare()
  const all = orm
    .select()
    .from(texts)
    .where(eq(texts.tenantId, $('tenantId')))
    .prepare()
  const remove = orm
    .delete(texts)
    .where(
      and(
        eq(texts.tenantId, $('tenantId')),
        eq(texts.mail, $('mail')),
        eq(texts.language, $('language')),
      ),
    )
    .prepare()

  return {
    put: (row: MailTextRow) => void put.run({ ...row }),
    all: (tenantId: string): MailTextRow[] => all.all({ tenantId }),
    remove: (key: Pick<MailTextRow, 'tenantId' | 'mail' | 'language'>) =>
      void remove.run({ ...key }),
  }
}
