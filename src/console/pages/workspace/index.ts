import type { Page } from '../../page.tsx'
import { auditLog } from './audit.tsx'
import { keyPage } from './key.tsx'
import { keyList } from './keys.tsx'
import { newKey } from './new-key.tsx'
import { settingsPage } from './settings.tsx'
import { teamPage } from './team.tsx'
import { inviteMember } from './team-invite.tsx'
import { memberPage } from './team-member.tsx'
import { usagePage } from './usage.tsx'

export const workspacePages: readonly Page[] = [
  keyList,
  newKey,
  keyPage,
  teamPage,
  inviteMember,
  memberPage,
  usagePage,
  auditLog,
  settingsPage,
]
