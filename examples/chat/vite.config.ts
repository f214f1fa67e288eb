import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // @postroom/client is a link to its folder, which may have a React of its own.
  resolve: { dedupe: ['react', 'react-dom'] },
});
