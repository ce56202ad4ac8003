import { mails } from '../schema.ts'
import { sealedColumn } from '../sealing/column.ts'

/** The sealed column of mail bodies, which contain codes and links that sign users in. */
export const mailBody = sealedColumn({
  column: mails.body,
  purpose: 'mails',
  named: { id: mails.id },
  boundTo: ({ id }) => `mails/${id}/body`,
})
