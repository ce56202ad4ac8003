import { flash } from '../parts.ts'

export const FLASHES = new Map(
  Object.entries({
    on: flash.good('Enabled.'),
    off: flash.good('Disabled.'),
    urls: flash.good('Return URLs saved.'),
  }),
)
