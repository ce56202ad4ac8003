import { mails } from '../schema.ts'
import { sealedColumn } from '../sealing/column.ts'

/** Bodies hold codes and links that sign people in. */
export const mailBody = sealedColumn({
  column: mails.body,
  purpose: 'mails',
  named: { id: mails.id },
  place: ({ id }) => `mails/${id}/body`,
})
